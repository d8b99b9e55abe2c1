import type { Bus } from '@call-analysis/bus';
import { AuditEntryAdded, AuditEntryCreated, CallErased, type Event } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import { writeTombstone } from './tombstones.ts';

/** Events about an erased call that are still delivered: they hold none of its data, and say what was done to it. */
export const OUTLAST_ERASURE = [CallErased, AuditEntryAdded, AuditEntryCreated];

/**
 * First step of erasing a call in a service, inside the transaction that erases: results that arrive later are dropped,
 * and the call's pending events and dead letters are removed.
 */
export async function stopProcessing(bus: Bus, tx: Sql, { firmuuid, subject }: Event): Promise<void> {
  await writeTombstone(tx, firmuuid, subject);
  await bus.removePending(tx, firmuuid, subject, OUTLAST_ERASURE);
}
