import type { Bus } from '@call-analysis/bus';
import { Failures } from '@call-analysis/fault';
import type { Store } from '../store/index.ts';
import { cancelQueuedCalls } from './cancel-queued-calls.ts';

const CAMPAIGNS_PER_RUN = 100;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;

/** Adds up pending counter changes, so that campaigns stay quick to read, and finishes canceling calls. */
export async function maintainCampaigns(parts: { store: Store; bus: Bus }): Promise<void> {
  const { store } = parts;
  await store.tally.fold();
  const deadline = Date.now() + RUN_MS;
  const failures = new Failures();
  for (const campaign of await store.campaigns.withCallsToCancel(CAMPAIGNS_PER_RUN)) {
    if (Date.now() > deadline) break;
    await failures.attempt(() => cancelQueuedCalls(parts, campaign, deadline));
  }
  failures.throwAll();
}
