import type { Bus } from '@call-analysis/bus';
import type { Store } from '../store/index.ts';
import { cancelCalls } from './cancel-queued-calls.ts';

const CAMPAIGNS_AT_ONCE = 100;
/** A service that is told to stop waits for this. */
const WORK_MS = 3_000;

/** Keeps the counters of campaigns quick to read, and finishes what a cancel has begun. */
export async function tendCampaigns(parts: { store: Store; bus: Bus }): Promise<void> {
  const { store } = parts;
  await store.tally.fold();
  const deadline = Date.now() + WORK_MS;
  for (const campaign of await store.campaigns.toCancel(CAMPAIGNS_AT_ONCE)) {
    if (Date.now() > deadline) return;
    await cancelCalls(parts, campaign, deadline);
  }
}
