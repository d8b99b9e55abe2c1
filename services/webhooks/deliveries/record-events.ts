import { findErased } from '@call-analysis/call-processing';
import type { Event } from '@call-analysis/events';
import type { Database } from '@call-analysis/postgres';
import type { Endpoints } from '../endpoints/endpoint-store.ts';
import type { Sender } from '../sending/sender.ts';
import type { Deliveries, NewDelivery } from './delivery-store.ts';

interface Deps {
  readonly db: Database;
  readonly endpoints: Endpoints;
  readonly deliveries: Deliveries;
  readonly sender: Sender;
}

/**
 * Stores events as deliveries of the endpoints that subscribe to them. An event that arrives again changes nothing, since
 * its id is the delivery's. Events about erased calls are dropped. Most firms have no endpoint, which costs one look.
 */
export async function recordEvents<Body>(
  { db, endpoints, deliveries, sender }: Deps,
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
