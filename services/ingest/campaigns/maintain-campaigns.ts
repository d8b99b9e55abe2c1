import { attemptEach } from '@call-analysis/fault';
import { type CancelDeps, cancelQueuedCalls } from './cancel-queued-calls.ts';
import type { Tally } from './tally-store.ts';

const CAMPAIGNS_PER_RUN = 100;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;

/** Adds up pending counter changes, so that campaigns stay quick to read, and finishes canceling calls. */
export async function maintainCampaigns(deps: CancelDeps & { readonly tally: Tally }): Promise<void> {
  const { campaigns, tally } = deps;
  await tally.fold();
  const deadline = Date.now() + RUN_MS;
  const canceled = await campaigns.withCallsToCancel(CAMPAIGNS_PER_RUN);
  await attemptEach(canceled, (campaign) => cancelQueuedCalls(deps, campaign, deadline), RUN_MS);
}
