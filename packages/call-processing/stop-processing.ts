import type { Bus } from '@call-analysis/bus';
import { CallErased, type Event } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import { writeTombstone } from './tombstones.ts';

/**
 * First step of erasing a call in a service, inside the transaction that erases: results that arrive later are dropped,
 * and the call's pending events and dead letters are removed.
 */
export async function stopProcessing(bus: Bus, tx: Sql, { firmuuid, subject }: Event): Promise<void> {
  await writeTombstone(tx, firmuuid, subject);
  await bus.removePending(tx, firmuuid, subject, CallErased);
}
