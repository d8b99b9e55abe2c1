import type { Bus } from '@call-analysis/bus';
import { stopProcessing } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Store } from '../store.ts';

export const ERASURES = 'analysis.erasures';

/** Removes what is kept of a call, also what waits or lies dead here; analyses that come to their end later are dropped. */
export async function eraseCall({ store, bus }: { store: Store; bus: Bus }, event: Event): Promise<void> {
  await store.db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
    await store.removeAnalyses(tx, event.firmuuid, event.subject);
  });
}
