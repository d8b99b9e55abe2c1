import type { Bus } from '@call-analysis/bus';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { announcement } from './announce-calls.ts';
import type { CallRow, Store } from './store/index.ts';

/** Begins a failed call anew, when trying again can help. */
export async function retryCall(
  parts: { store: Store; bus: Bus; objects: Objects },
  firmUuid: string,
  callUuid: string,
): Promise<CallRow> {
  const { store, bus, objects } = parts;
  return store.db.transaction(async (tx) => {
    const call = await store.calls.lock(tx, firmUuid, callUuid);
    if (call.status !== 'failed') {
      throw new Fault('conflict', 'NOT_RETRYABLE', `Only a failed call can be retried; this one is ${call.status}.`);
    }
    if (call.failure?.retryable !== true) {
      throw new Fault('conflict', 'NOT_RETRYABLE', `A retry cannot help this call: ${call.failure?.message ?? 'it failed for good'}`);
    }
    const requeued = await store.calls.requeue(tx, firmUuid, callUuid, new Date());
    const waiting = await store.calls.waitingOne(tx, firmUuid, callUuid);
    await bus.publish(tx, [await announcement(objects, waiting, { firmuuid: firmUuid, turn: 0 })]);
    return requeued;
  });
}
