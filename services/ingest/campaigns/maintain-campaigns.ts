import { setTimeout as pause } from 'node:timers/promises';
import { CallsCanceled, createEvent } from '@call-analysis/events';
import { attemptEach } from '@call-analysis/fault';
import type { Publishing } from '@call-analysis/service';
import type { CampaignName, Campaigns } from './campaign-store.ts';

export interface CancelDeps extends Publishing {
  readonly campaigns: Campaigns;
}

const CALLS_PER_TRANSACTION = 1000;
/** Time for a transaction that locks a call to commit. */
const RETRY_MS = 50;

/**
 * Cancels the queued calls of a canceled campaign, which accepts no new ones. Calls are canceled in many short
 * transactions, so that results of other calls do not wait; after a crash the next run continues. Stops at `deadline`,
 * in milliseconds since the epoch.
 */
export async function cancelQueuedCalls(
  deps: CancelDeps,
  campaign: CampaignName,
  deadline = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (;;) {
    if (await cancelOnce(deps, campaign, deadline)) return deps.campaigns.setCallsCanceled(campaign);
    if (Date.now() > deadline) return;
    await pause(RETRY_MS);
  }
}

/** Returns false when queued calls may be left: those that other transactions had locked, or all after the deadline. */
async function cancelOnce(
  { db, campaigns, bus }: CancelDeps,
  campaign: CampaignName,
  deadline: number,
): Promise<boolean> {
  const { firmUuid } = campaign;
  const origin = { firmuuid: firmUuid };
  let isDone = true;
  for (const range of await campaigns.callRanges(campaign)) {
    for (let after: string | null = null; ;) {
      const uuids: string[] = await campaigns.queuedCalls(campaign, range, after, CALLS_PER_TRANSACTION);
      if (uuids.length === 0) break;
      await db.transaction(async (tx) => {
        const canceled = await campaigns.cancelCalls(tx, { firmUuid, uuids }, new Date());
        const events = [...Map.groupBy(canceled, ({ source }) => source)].map(([source, alike]) =>
          createEvent('ingest', CallsCanceled, campaign.uuid, origin, { calls: alike.map(({ uuid }) => uuid), source }),
        );
        await bus.publish(tx, events);
        isDone &&= canceled.length === uuids.length;
      });
      if (Date.now() > deadline) return false;
      after = uuids.at(-1) ?? null;
    }
  }
  return isDone;
}

const CAMPAIGNS_PER_RUN = 100;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;

/** Adds up pending counter changes, so that campaigns stay quick to read, and finishes canceling calls. */
export async function maintainCampaigns(deps: CancelDeps): Promise<void> {
  const { campaigns } = deps;
  await campaigns.foldTally();
  const deadline = Date.now() + RUN_MS;
  const canceled = await campaigns.withCallsToCancel(CAMPAIGNS_PER_RUN);
  await attemptEach(canceled, (campaign) => cancelQueuedCalls(deps, campaign, deadline), RUN_MS);
}
