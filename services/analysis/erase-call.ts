import { type Bus, bury } from '@call-analysis/bus';
import { CallErased, type Event } from '@call-analysis/events';
import type { Store } from './store.ts';

export const ERASURES = 'analysis.erasures';

/** Removes what is kept of a call, also what waits or lies dead here; analyses that come to their end later are dropped. */
export async function eraseCall({ store, bus }: { store: Store; bus: Bus }, { firmuuid, subject }: Event): Promise<void> {
  await store.db.transaction(async (tx) => {
    await bury(tx, firmuuid, subject);
    await bus.forget(tx, firmuuid, subject, CallErased);
    await store.removeAnalyses(tx, firmuuid, subject);
  });
}
