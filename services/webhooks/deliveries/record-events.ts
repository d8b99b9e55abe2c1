import type { Bus } from '@call-analysis/bus';
import { findErased, stopProcessing } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import type { Endpoints } from '../endpoints/endpoint-store.ts';
import type { Sender } from '../sending/sender.ts';
import type { Deliveries, NewDelivery } from './delivery-store.ts';
import { callErased } from './webhook-body.ts';

interface Deps {
  readonly db: Database;
  readonly endpoints: Endpoints;
  readonly deliveries: Deliveries;
  readonly bus: Bus;
  readonly sender: Sender;
}

/**
 * Stores events as deliveries of the endpoints that subscribe to them. An event that arrives again changes nothing, since
 * its id is the delivery's. Events about erased calls are dropped. Most firms have no endpoint, which costs one look.
 */
export async function recordEvents<Body>(
  { db, endpoints, deliveries, sender }: Omit<Deps, 'bus'>,
  events: readonly Event<Body>[],
  deliveryOf: (event: Event<Body>) => NewDelivery,
): Promise<void> {
  const firms = await endpoints.firmsWithAny([...new Set(events.map(({ firmuuid }) => firmuuid))]);
  const wanted = events.filter(({ firmuuid }) => firms.has(firmuuid.toLowerCase()));
  if (wanted.length === 0) return;
  const changed = await db.transaction(async (tx) => {
    const erased = await findErased(tx, wanted);
    const kept = wanted.filter(({ subject }) => !erased.has(subject));
    return kept.length === 0 ? [] : deliveries.add(tx, kept.map(deliveryOf));
  });
  sender.wake(changed);
}

/**
 * Removes the deliveries of an erased call, sent or not, and notifies its firm's endpoints of the erasure. Events about
 * the call that arrive later are dropped.
 */
export async function eraseCall({ db, deliveries, bus, sender }: Omit<Deps, 'endpoints'>, event: Event): Promise<void> {
  const endpoints = await db.transaction(async (tx) => {
    await stopProcessing(bus, tx, event);
    await deliveries.removeSubject(tx, event.firmuuid, event.subject, 'call.erased');
    return deliveries.add(tx, [callErased(event)]);
  });
  sender.wake(endpoints);
}
