import type { Bus } from '@call-analysis/bus';
import { CallEnded, createEvent, type EventOrigin } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { EndedCall } from './result-store.ts';

/** Publishes CallEnded for each call, in the transaction that ended it. `originOf` returns the event that it results from. */
export async function publishEnded(
  bus: Bus,
  tx: Sql,
  ended: readonly EndedCall[],
  originOf: (call: EndedCall) => EventOrigin,
): Promise<void> {
  if (ended.length === 0) return;
  const events = ended.map((call) => createEvent('ingest', CallEnded, call.callUuid, originOf(call), call.state));
  await bus.publish(tx, events);
}
