import type { Store } from '../store/store.ts';

/** About 30 MB. */
const MAX_REFUSALS = 100_000;
const KEEP_MS = 90 * 24 * 3600 * 1000;

/** Bounds the entries of refused requests, which anyone can cause. Entries of actions are kept. */
export async function pruneRefusals({ store }: { store: Store }, now: Date): Promise<number> {
  return store.pruneRefusals(MAX_REFUSALS, new Date(now.getTime() - KEEP_MS));
}
