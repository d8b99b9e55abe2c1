import { stopProcessing } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import { callErased } from '../deliveries/webhook-body.ts';
import type { Parts } from '../parts.ts';

/**
 * Removes the deliveries of an erased call, sent or not, and notifies its firm's endpoints of the erasure. Events about
 * the call that arrive later are dropped.
 */
export async function eraseCall({ store, bus, sender }: Parts, event: Event): Promise<void> {
  const endpoints = await store.db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
    await store.deliveries.removeSubject(tx, event.firmuuid, event.subject, 'call.erased');
    return store.deliveries.add(tx, [callErased(event)]);
  });
  sender.wake(endpoints);
}
