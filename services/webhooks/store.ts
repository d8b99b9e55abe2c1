import type { Database } from '@call-analysis/postgres';
import { deliveries } from './deliveries/delivery-store.ts';
import { endpoints } from './endpoints/endpoint-store.ts';
import { leases } from './sending/lease-store.ts';

/** The database of this service. Only these stores query its tables. */
export function openStore(db: Database) {
  return {
    /** For transactions, and for the tables of claims and tombstones that shared packages use. */
    db,
    endpoints: endpoints(db),
    deliveries: deliveries(db),
    leases: leases(db),
  };
}

export type Store = ReturnType<typeof openStore>;
