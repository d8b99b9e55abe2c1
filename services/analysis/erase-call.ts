import { bury } from '@call-analysis/bus';
import type { Event } from '@call-analysis/events';
import type { Store } from './store.ts';

export const ERASURES = 'analysis.erasures';

/** Removes what is kept of a call; analyses of it that come to their end later are dropped. */
export async function eraseCall(store: Store, { firmuuid, subject }: Event): Promise<void> {
  await store.db.transaction(async (tx) => {
    await bury(tx, firmuuid, subject);
    await store.removeAnalyses(tx, firmuuid, subject);
  });
}
