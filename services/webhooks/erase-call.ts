import type { Bus } from '@call-analysis/bus';
import { stopProcessing } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import type { Deliveries } from './deliveries/delivery-store.ts';
import { callErased } from './deliveries/webhook-body.ts';
import type { Sender } from './sending/sender.ts';

interface Deps {
  readonly db: Database;
  readonly deliveries: Deliveries;
  readonly bus: Bus;
  readonly sender: Sender;
}

/**
 * Removes the deliveries of an erased call, sent or not, and notifies its firm's endpoints of the erasure. Events about
 * the call that arrive later are dropped.
 */
export async function eraseCall({ db, deliveries, bus, sender }: Deps, event: Event): Promise<void> {
  const endpoints = await db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
    await deliveries.removeSubject(tx, event.firmuuid, event.subject, 'call.erased');
    return deliveries.add(tx, [callErased(event)]);
  });
  sender.wake(endpoints);
}
