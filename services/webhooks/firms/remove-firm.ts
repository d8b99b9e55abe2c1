import { type FirmData, removeFirm as removeData } from '@call-analysis/call-processing';
import type { BodyOf, Event, FirmRemoved } from '@call-analysis/events';
import type { Parts } from '../parts.ts';
import type { Store } from '../store.ts';

export function firmData({ endpoints }: Store): FirmData {
  return {
    service: 'webhooks',
    rows: [(tx, firmUuid, limit) => endpoints.removeOfFirm(tx, firmUuid, limit)],
  };
}

/** Removes the endpoints of a removed firm and their deliveries. Nothing is sent to them any more. */
export async function removeFirm({ store, bus }: Parts, event: Event<BodyOf<typeof FirmRemoved>>): Promise<void> {
  await store.db.transaction((tx) => store.endpoints.markDeletedOfFirm(tx, event.firmuuid));
  await removeData({ db: store.db, bus }, firmData(store), event);
}
