import { AuditEntryCreated, type BodyOf, createEvent, type Event } from '@call-analysis/events';
import { Fault, invalidFields } from '@call-analysis/fault';
import type { Actor } from '@call-analysis/service';
import type { Firms } from '@call-analysis/service/firms';
import { v7 as uuidv7 } from 'uuid';
import { type CampaignAction, requireDateOrder, requireUnfinished, statusAfter } from './campaign-rules.ts';
import type { Campaign, NewCampaign } from './campaign-store.ts';
import { type CancelDeps, cancelQueuedCalls } from './maintain-campaigns.ts';

/** Creates a draft, which accepts no calls until it is started. */
export async function createCampaign(
  { db, campaigns, bus, firms }: CancelDeps & { readonly firms: Firms },
  actor: Actor,
  campaign: NewCampaign,
): Promise<Campaign> {
  requireDateOrder(campaign);
  const { firmUuid } = actor;
  if (campaign.segment_type !== null) {
    const { segmentTypes } = await firms.find(firmUuid);
    if (!segmentTypes.has(campaign.segment_type)) throw unknownSegmentType(segmentTypes);
  }
  const uuid = uuidv7();
  await db.transaction(async (tx) => {
    if (!(await campaigns.add(tx, firmUuid, uuid, campaign, new Date()))) throw takenExternalId();
    await bus.publish(tx, [campaignAuditEntry(actor, 'campaign.created', uuid)]);
  });
  return campaigns.get(firmUuid, uuid);
}

function takenExternalId(): Fault {
  const message =
    'Your firm already has a campaign with this external_id. Use a different one, or look that campaign up.';
  return new Fault('conflict', 'EXTERNAL_ID_EXISTS', message);
}

function unknownSegmentType(known: ReadonlySet<string>): Fault {
  const message = `is not one of your firm's segment types: ${[...known].join(', ')}`;
  return invalidFields([{ field: 'segment_type', code: 'UNKNOWN_SEGMENT_TYPE', message }]);
}

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
type CampaignChange = {
  readonly [Name in 'name' | 'description' | 'starts_at' | 'ends_at']: Campaign[Name] | undefined;
};

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
    const { starts_at = campaign.starts_at, ends_at = campaign.ends_at } = change;
    requireDateOrder({ starts_at, ends_at });
    await campaigns.change(tx, firmUuid, uuid, { name, description, starts_at, ends_at }, new Date());
    await bus.publish(tx, [campaignAuditEntry(actor, 'campaign.changed', uuid)]);
  });
  return campaigns.get(firmUuid, uuid);
}

/** An entry about a campaign for the firm's audit log. Publish it in the transaction of the action. */
export function campaignAuditEntry(
  { firmUuid, userUuid, address }: Actor,
  action: BodyOf<typeof AuditEntryCreated>['action'],
  campaignUuid: string,
): Event<BodyOf<typeof AuditEntryCreated>> {
  const entry = { actor: userUuid, action, address };
  return createEvent('ingest', AuditEntryCreated, campaignUuid, { firmuuid: firmUuid }, entry);
}
