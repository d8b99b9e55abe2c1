import type { Bus } from '@call-analysis/bus';
import type { Actor } from '@call-analysis/service';
import type { Campaign, Store } from '../store/index.ts';
import { campaignAuditEntry } from './audit-entry.ts';
import { type CampaignAction, statusAfter } from './campaign-rules.ts';
import { cancelQueuedCalls } from './cancel-queued-calls.ts';

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
  parts: { store: Store; bus: Bus },
  actor: Actor,
  uuid: string,
  action: CampaignAction,
): Promise<Campaign> {
  const { store, bus } = parts;
  const { firmUuid } = actor;
  await store.transaction(async (tx) => {
    const campaign = await store.campaigns.lock(tx, firmUuid, uuid);
    await store.campaigns.setStatus(tx, firmUuid, uuid, statusAfter(campaign.status, action), new Date());
    await bus.publish(tx, [campaignAuditEntry(actor, auditActions[action], uuid)]);
  });
  if (action === 'cancel') await cancelQueuedCalls(parts, { firmUuid, uuid }, Date.now() + CANCEL_MS);
  return store.campaigns.get(firmUuid, uuid);
}
