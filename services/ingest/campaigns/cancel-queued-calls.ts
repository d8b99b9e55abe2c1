import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '@call-analysis/bus';
import { CallsCanceled, createEvent } from '@call-analysis/events';
import { currentContext } from '@call-analysis/runtime';
import type { Store } from '../store/index.ts';

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
}

interface CampaignName {
  readonly firmUuid: string;
  readonly uuid: string;
}

const CALLS_AT_ONCE = 1000;
/** A result that is just being written is there by then. */
const AGAIN_MS = 50;

/**
 * Cancels what is queued of a canceled campaign, to which no calls can come any more. Each portion is a transaction,
 * so that results of other calls do not wait for all; a crash leaves the rest to the next time. At `deadline`, in
 * milliseconds since the epoch, it stops. Recordings are told of, for hearing one takes as long as analysing thousands.
 */
export async function cancelCalls(
  parts: Parts,
  campaign: CampaignName,
  deadline = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (;;) {
    if (await cancelAll(parts, campaign, deadline)) return parts.store.campaigns.callsAreCanceled(campaign);
    if (Date.now() > deadline) return;
    await pause(AGAIN_MS);
  }
}

/** False when some are left: those that results came in for at that moment, and what the deadline kept it from. */
async function cancelAll({ store, bus }: Parts, campaign: CampaignName, deadline: number): Promise<boolean> {
  const { firmUuid } = campaign;
  const about = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  let isDone = true;
  for (const place of await store.campaigns.placesOfCalls(campaign)) {
    for (let after: string | null = null; ;) {
      const uuids: string[] = await store.campaigns.queued(campaign, place, after, CALLS_AT_ONCE);
      if (uuids.length === 0) break;
      await store.db.transaction(async (tx) => {
        const canceled = await store.calls.cancel(tx, { firmUuid, uuids }, new Date());
        const calls = canceled.flatMap(({ uuid, source }) => (source === 'audio' ? [uuid] : []));
        if (calls.length > 0)
          await bus.publish(tx, [createEvent('ingest', CallsCanceled, campaign.uuid, about, { calls })]);
        isDone &&= canceled.length === uuids.length;
      });
      if (Date.now() > deadline) return false;
      after = uuids.at(-1) ?? null;
    }
  }
  return isDone;
}
