import type { NewWebhook, WebhookChange } from '@call-analysis/api/webhooks';
import type { Bus } from '@call-analysis/bus';
import { Fault } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import { type Actor, auditEntry } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import { checkUrl, type UrlRules } from '../addresses/public-address.ts';
import type { Endpoints } from './endpoint-store.ts';
import { type Endpoint, newSecret } from './endpoint.ts';

/** What RPCs pass to the use cases of endpoints. */
export interface EndpointDeps {
  readonly db: Database;
  readonly endpoints: Endpoints;
  readonly bus: Bus;
  readonly urlRules: UrlRules;
}

/** Every event of a firm is stored once for each of its endpoints. */
const MAX_PER_FIRM = 100;

/** Adds an endpoint and returns it with its secret, which is not shown again. Fault URL_NOT_ALLOWED or TOO_MANY_WEBHOOKS. */
export async function createEndpoint(
  { db, endpoints, bus, urlRules }: EndpointDeps,
  actor: Actor,
  given: z.output<typeof NewWebhook>,
): Promise<Endpoint & { secret: string }> {
  const url = await checkUrl(given.url, urlRules);
  const endpoint: Endpoint = {
    uuid: uuidv7(),
    url,
    events: [...new Set(given.events)],
    description: given.description ?? null,
    enabled: true,
    disabled_reason: null,
    created_at: new Date(),
  };
  const secret = newSecret();
  await db.transaction(async (tx) => {
    if ((await endpoints.countLocked(tx, actor.firmUuid)) >= MAX_PER_FIRM) {
      const message = `A firm has at most ${MAX_PER_FIRM} webhooks. Delete one that is no longer used.`;
      throw new Fault('conflict', 'TOO_MANY_WEBHOOKS', message);
    }
    await endpoints.add(tx, actor.firmUuid, endpoint, secret);
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.created', endpoint.uuid)]);
  });
  return { ...endpoint, secret };
}

/** How long a replaced secret also signs. */
const OVERLAP_MS = 24 * 3_600_000;
/** Of many rotations in a day, the newest replaced secrets sign. */
const MAX_OLD = 4;

/** Gives an endpoint a new secret and returns it. For 24 hours deliveries are signed with both. */
export async function rotateSecret(
  { db, endpoints, bus }: EndpointDeps,
  actor: Actor,
  uuid: string,
  now = Date.now(),
): Promise<Endpoint & { secret: string }> {
  const secret = newSecret();
  const endpoint = await db.transaction(async (tx) => {
    const found = await endpoints.get(actor.firmUuid, uuid, tx, 'FOR UPDATE');
    const current = await endpoints.secretsOf(tx, uuid);
    const replaced = { secret: current.secret, until: new Date(now + OVERLAP_MS).toISOString() };
    const oldSecrets = [replaced, ...current.oldSecrets.filter(({ until }) => Date.parse(until) > now)];
    await endpoints.setSecrets(tx, uuid, { secret, oldSecrets: oldSecrets.slice(0, MAX_OLD) });
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.secret_rotated', uuid)]);
    return found;
  });
  return { ...endpoint, secret };
}

/** Changes the given fields. Events that happened while an endpoint was disabled are sent by a replay only. */
export async function changeEndpoint(
  { db, endpoints, bus, urlRules }: EndpointDeps,
  actor: Actor,
  uuid: string,
  change: z.output<typeof WebhookChange>,
): Promise<Endpoint> {
  await endpoints.get(actor.firmUuid, uuid);
  const url = change.url === undefined ? undefined : await checkUrl(change.url, urlRules);
  await db.transaction(async (tx) => {
    const current = await endpoints.get(actor.firmUuid, uuid, tx, 'FOR UPDATE');
    const events = change.events === undefined ? current.events : [...new Set(change.events)];
    const { description = current.description, enabled = current.enabled } = change;
    await endpoints.change(tx, uuid, { description, enabled, events, url: url ?? current.url });
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.changed', uuid)]);
  });
  return endpoints.get(actor.firmUuid, uuid);
}

/** Deletes an endpoint. Nothing more is sent to it, and its deliveries are removed. */
export async function deleteEndpoint({ db, endpoints, bus }: EndpointDeps, actor: Actor, uuid: string): Promise<void> {
  await db.transaction(async (tx) => {
    await endpoints.get(actor.firmUuid, uuid, tx, 'FOR UPDATE');
    await endpoints.markDeleted(tx, uuid);
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.deleted', uuid)]);
  });
}
