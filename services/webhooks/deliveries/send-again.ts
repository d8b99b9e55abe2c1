import { Fault } from '@call-analysis/fault';
import { type Actor, auditEntry } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Delivery } from './delivery-store.ts';
import { type DeliveryDeps, test } from './record-events.ts';

const DELIVERIES_PER_TRANSACTION = 5_000;

/** Sends the event webhook.test to an enabled endpoint. */
export async function sendTest(
  { db, endpoints, deliveries, sender }: DeliveryDeps,
  firmUuid: string,
  uuid: string,
): Promise<Delivery> {
  const time = new Date().toISOString();
  const event = { id: uuidv7(), source: 'webhooks', type: '', time, subject: uuid, firmuuid: firmUuid, priority: 0 };
  const delivery = await db.transaction(async (tx) => {
    requireEnabled(await endpoints.get(firmUuid, uuid, tx));
    return deliveries.addFor(tx, uuid, test({ ...event, data: null }));
  });
  sender.wake([uuid]);
  return delivery;
}

/** Sends a delivery again now, even if it was delivered. */
export async function retryDelivery(
  { db, endpoints, deliveries, sender }: DeliveryDeps,
  firmUuid: string,
  uuid: string,
  deliveryUuid: string,
): Promise<Delivery> {
  const delivery = await db.transaction(async (tx) => {
    requireEnabled(await endpoints.get(firmUuid, uuid, tx));
    return deliveries.retry(tx, uuid, deliveryUuid);
  });
  sender.wake([uuid]);
  return delivery;
}

/**
 * Sends all deliveries again that were created in a period, also those that were delivered, under the same ids. Returns
 * their number. When it is interrupted, some are sent again; repeating it sends all.
 */
export async function replay(
  { db, endpoints, deliveries, sender, bus }: DeliveryDeps,
  actor: Actor,
  uuid: string,
  period: { readonly from: string; readonly to: string },
): Promise<number> {
  requireEnabled(await endpoints.get(actor.firmUuid, uuid));
  await db.transaction((tx) => bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.replayed', uuid)]));
  let total = 0;
  for (let after: string | null = null; ;) {
    const { count, last } = await deliveries.replay(uuid, period, after, DELIVERIES_PER_TRANSACTION);
    total += count;
    sender.wake([uuid]);
    if (last === null) return total;
    after = last;
  }
}

function requireEnabled({ enabled, disabled_reason: reason }: Endpoint): void {
  if (enabled) return;
  const message = `The webhook is disabled (${reason}). Enable it first with PATCH { "enabled": true }.`;
  throw new Fault('conflict', 'WEBHOOK_DISABLED', message);
}
