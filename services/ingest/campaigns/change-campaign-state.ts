import type { Bus } from '@call-analysis/bus';
import { type Actor, auditEntry } from '../audit-entry.ts';
import type { Campaign, Store } from '../store/index.ts';
import { type CampaignAction, statusAfter } from './campaign-rules.ts';
import { cancelCalls } from './cancel-queued-calls.ts';

const actions = {
  start: 'campaign.started',
  pause: 'campaign.paused',
  complete: 'campaign.completed',
  cancel: 'campaign.canceled',
} as const satisfies Record<CampaignAction, string>;

/** Who cancels a campaign waits so long for its calls; the rest of a very large one is canceled soon after. */
const WAIT_MS = 5_000;

/**
 * Does a deed to a campaign. Pausing and completing end the uploads alone: calls that were taken in go on. Canceling
 * cancels the queued ones too; what is being worked on comes to its own end.
 */
export async function moveCampaign(
  parts: { store: Store; bus: Bus },
  actor: Actor,
  uuid: string,
  action: CampaignAction,
): Promise<Campaign> {
  const { store, bus } = parts;
  const { firmUuid } = actor;
  await store.db.transaction(async (tx) => {
    const campaign = await store.campaigns.lock(tx, firmUuid, uuid);
    await store.campaigns.move(tx, firmUuid, uuid, statusAfter(campaign.status, action), new Date());
    await bus.publish(tx, [auditEntry(actor, actions[action], uuid)]);
  });
  if (action === 'cancel') await cancelCalls(parts, { firmUuid, uuid }, Date.now() + WAIT_MS);
  return store.campaigns.get(firmUuid, uuid);
}
