import { pruneProcessed } from '@call-analysis/call-processing';
import type { Database } from '@call-analysis/postgres';
import type { Deliveries } from './deliveries/delivery-store.ts';
import type { Endpoints } from './endpoints/endpoint-store.ts';

const ROWS_PER_STATEMENT = 5_000;
/** A service that is stopping waits for this run. */
const RUN_MS = 3_000;
const KEPT_DAYS = 30;

/** Removes what is left of deleted endpoints, and fails what waits for disabled ones. */
export async function settleEndpoints(endpoints: Endpoints, deliveries: Deliveries): Promise<void> {
  await repeat((limit) => endpoints.removeDeleted(limit));
  await repeat((limit) => deliveries.failDisabled(limit));
}

/** Removes deliveries after 30 days, and the claims and tombstones of events that can no longer be redelivered. */
export async function sweep(db: Database, deliveries: Deliveries, redeliveryDays: number): Promise<void> {
  await repeat((limit) => deliveries.prune(KEPT_DAYS, limit));
  await pruneProcessed(db, redeliveryDays);
}

async function repeat(remove: (limit: number) => Promise<number>): Promise<void> {
  const deadline = Date.now() + RUN_MS;
  while ((await remove(ROWS_PER_STATEMENT)) === ROWS_PER_STATEMENT && Date.now() < deadline);
}
