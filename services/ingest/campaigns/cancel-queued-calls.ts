import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '@call-analysis/bus';
import { CallsCanceled, createEvent } from '@call-analysis/events';
import { currentContext } from '@call-analysis/runtime';
import type { Store } from '../store/index.ts';
import type { CampaignName } from './campaign-store.ts';

interface Deps {
  readonly store: Store;
  readonly bus: Bus;
}

const CALLS_PER_TRANSACTION = 1000;
/** Time for a transaction that locks a call to commit. */
const RETRY_MS = 50;

/**
 * Cancels the queued calls of a canceled campaign, which accepts no new ones. Calls are canceled in many short
 * transactions, so that results of other calls do not wait; after a crash the next run continues. Stops at `deadline`,
 * in milliseconds since the epoch. CallsCanceled is published for recordings only: transcribing one takes as long as
 * analyzing thousands of transcripts.
 */
export async function cancelQueuedCalls(
  deps: Deps,
  campaign: CampaignName,
  deadline = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (;;) {
    if (await cancelOnce(deps, campaign, deadline)) return deps.store.campaigns.setCallsCanceled(campaign);
    if (Date.now() > deadline) return;
    await pause(RETRY_MS);
  }
}

/** Returns false when queued calls may be left: those that other transactions had locked, or all after the deadline. */
async function cancelOnce({ store, bus }: Deps, campaign: CampaignName, deadline: number): Promise<boolean> {
  const { firmUuid } = campaign;
  const origin = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
  let isDone = true;
  for (const range of await store.campaignCalls.ranges(campaign)) {
    for (let after: string | null = null; ;) {
      const uuids: string[] = await store.campaignCalls.queued(campaign, range, after, CALLS_PER_TRANSACTION);
      if (uuids.length === 0) break;
      await store.transaction(async (tx) => {
        const canceled = await store.campaignCalls.cancel(tx, { firmUuid, uuids }, new Date());
        const calls = canceled.flatMap(({ uuid, source }) => (source === 'audio' ? [uuid] : []));
        if (calls.length > 0)
          await bus.publish(tx, [createEvent('ingest', CallsCanceled, campaign.uuid, origin, { calls })]);
        isDone &&= canceled.length === uuids.length;
      });
      if (Date.now() > deadline) return false;
      after = uuids.at(-1) ?? null;
    }
  }
  return isDone;
}
