import type { Bus } from '@call-analysis/bus';
import { type FirmData, removeFirm as removeData } from '@call-analysis/call-processing';
import type { BodyOf, Event, FirmRemoved } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import type { Endpoints } from '../endpoints/endpoint-store.ts';

export function firmData(endpoints: Endpoints): FirmData {
  return {
    service: 'webhooks',
    rows: [(tx, firmUuid, limit) => endpoints.removeOfFirm(tx, firmUuid, limit)],
  };
}

/** Removes the endpoints of a removed firm and their deliveries. Nothing is sent to them any more. */
export async function removeFirm(
  { db, endpoints, bus }: { readonly db: Database; readonly endpoints: Endpoints; readonly bus: Bus },
  event: Event<BodyOf<typeof FirmRemoved>>,
): Promise<void> {
  await db.transaction((tx) => endpoints.markDeletedOfFirm(tx, event.firmuuid));
  await removeData({ db, bus }, firmData(endpoints), event);
}
