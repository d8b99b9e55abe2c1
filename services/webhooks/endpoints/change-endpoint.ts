import { type Actor, auditEntry } from '@call-analysis/service';
import { checkUrl } from '../addresses/check-url.ts';
import type { Parts } from '../parts.ts';
import type { EndpointChange } from './endpoint-store.ts';
import type { Endpoint } from './endpoint.ts';

type ChangingParts = Pick<Parts, 'store' | 'bus' | 'urlRules'>;

/** Changes the given fields. Events that happened while an endpoint was disabled are sent by a replay only. */
export async function changeEndpoint(
  { store, bus, urlRules }: ChangingParts,
  actor: Actor,
  uuid: string,
  change: Partial<EndpointChange>,
): Promise<Endpoint> {
  await store.endpoints.get(actor.firmUuid, uuid);
  const url = change.url === undefined ? undefined : await checkUrl(change.url, urlRules);
  await store.db.transaction(async (tx) => {
    const current = await store.endpoints.get(actor.firmUuid, uuid, tx, 'FOR UPDATE');
    const events = change.events === undefined ? current.events : [...new Set(change.events)];
    await store.endpoints.change(tx, uuid, { ...current, ...change, events, url: url ?? current.url });
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.changed', uuid)]);
  });
  return store.endpoints.get(actor.firmUuid, uuid);
}

/** Deletes an endpoint. Nothing more is sent to it, and its deliveries are removed. */
export async function deleteEndpoint(
  { store, bus }: Pick<Parts, 'store' | 'bus'>,
  actor: Actor,
  uuid: string,
): Promise<void> {
  await store.db.transaction(async (tx) => {
    await store.endpoints.get(actor.firmUuid, uuid, tx, 'FOR UPDATE');
    await store.endpoints.markDeleted(tx, uuid);
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.deleted', uuid)]);
  });
}
