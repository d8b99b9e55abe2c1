import type { Actor } from '@call-analysis/service';
import { campaignAuditEntry } from './add-calls.ts';
import { requireDateOrder, requireUnfinished, type CampaignAction, statusAfter } from './campaign-rules.ts';
import type { Campaign } from './campaign-store.ts';
import { type CancelDeps, cancelQueuedCalls } from './cancel-queued-calls.ts';

const auditActions = {
  start: 'campaign.started',
  pause: 'campaign.paused',
  complete: 'campaign.completed',
  cancel: 'campaign.canceled',
} as const satisfies Record<CampaignAction, string>;

/** A cancel request cancels calls for this long. `maintainCampaigns` cancels the rest of a very large campaign. */
const CANCEL_MS = 5_000;

/**
 * Applies an action to a campaign. Pausing and completing only stop uploads: accepted calls are still processed.
 * Canceling also cancels the queued calls; calls that are being processed run to their end. Fault INVALID_TRANSITION
 * when the action is not possible in the campaign's status.
 */
export async function changeCampaignState(
  deps: CancelDeps,
  actor: Actor,
  uuid: string,
  action: CampaignAction,
): Promise<Campaign> {
  const { db, campaigns, bus } = deps;
  const { firmUuid } = actor;
  await db.transaction(async (tx) => {
    const campaign = await campaigns.lock(tx, firmUuid, uuid);
    await campaigns.setStatus(tx, firmUuid, uuid, statusAfter(campaign.status, action), new Date());
    await bus.publish(tx, [campaignAuditEntry(actor, auditActions[action], uuid)]);
  });
  if (action === 'cancel') await cancelQueuedCalls(deps, { firmUuid, uuid }, Date.now() + CANCEL_MS);
  return campaigns.get(firmUuid, uuid);
}

/** Undefined properties stay as they are. */
interface CampaignChange {
  readonly name: string | undefined;
  readonly description: string | null | undefined;
  readonly startsAt: Date | null | undefined;
  readonly endsAt: Date | null | undefined;
}

/** Changes the properties of a campaign. Fault INVALID_TRANSITION when it is completed or canceled. */
export async function changeCampaign(
  { db, campaigns, bus }: CancelDeps,
  actor: Actor,
  uuid: string,
  change: CampaignChange,
): Promise<Campaign> {
  const { firmUuid } = actor;
  await db.transaction(async (tx) => {
    const campaign = await campaigns.lock(tx, firmUuid, uuid);
    requireUnfinished(campaign.status);
    if (Object.values(change).every((value) => value === undefined)) return;
    const { name = campaign.name, description = campaign.description } = change;
    const { startsAt = campaign.startsAt, endsAt = campaign.endsAt } = change;
    requireDateOrder({ startsAt, endsAt });
    await campaigns.change(tx, firmUuid, uuid, { name, description, startsAt, endsAt }, new Date());
    await bus.publish(tx, [campaignAuditEntry(actor, 'campaign.changed', uuid)]);
  });
  return campaigns.get(firmUuid, uuid);
}
