import type { BodyOf, CallsCanceled, Event } from '@call-analysis/events';
import type { Store } from '../store.ts';

/** Removes canceled calls from the queue of the language model: nothing more is spent on them. */
export async function cancelCalls(
  { store }: { store: Store },
  { firmuuid, data }: Event<BodyOf<typeof CallsCanceled>>,
): Promise<void> {
  await store.db.transaction((tx) => store.requests.removeCalls(tx, firmuuid, data.calls));
}
