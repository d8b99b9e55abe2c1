import type { Bus } from '@call-analysis/bus';
import { stopProcessing } from '@call-analysis/call-processing';
import type { Event, BodyOf, CallsCanceled } from '@call-analysis/events';
import type { Store } from '../store.ts';

/**
 * Removes the analyses of a call, its request to a language model, and its pending events and dead letters in this service. The result of an analysis that
 * is still running is dropped when it ends.
 */
export async function eraseCall({ store, bus }: { store: Store; bus: Bus }, event: Event): Promise<void> {
  await store.db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
    await store.requests.removeCalls(tx, event.firmuuid, [event.subject]);
    await store.money.forgetCall(tx, event.firmuuid, event.subject);
    await store.removeAnalyses(tx, event.firmuuid, event.subject);
  });
}

/** Removes canceled calls from the queue of the language model: nothing more is spent on them. */
export async function cancelCalls(
  { store }: { store: Store },
  { firmuuid, data }: Event<BodyOf<typeof CallsCanceled>>,
): Promise<void> {
  await store.db.transaction((tx) => store.requests.removeCalls(tx, firmuuid, data.calls));
}
