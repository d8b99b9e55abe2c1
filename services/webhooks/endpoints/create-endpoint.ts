import { Fault } from '@call-analysis/fault';
import { type Actor, auditEntry } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import { checkUrl } from '../addresses/check-url.ts';
import type { Parts } from '../parts.ts';
import { newSecret } from '../sending/signature.ts';
import type { Endpoint } from './endpoint.ts';

/** Every event of a firm is stored once for each of its endpoints. */
const MAX_PER_FIRM = 100;

/** Adds an endpoint and returns it with its secret, which is not shown again. Fault URL_NOT_ALLOWED or TOO_MANY_WEBHOOKS. */
export async function createEndpoint(
  { store, bus, urlRules }: Pick<Parts, 'store' | 'bus' | 'urlRules'>,
  actor: Actor,
  given: Pick<Endpoint, 'url' | 'events' | 'description'>,
): Promise<{ endpoint: Endpoint; secret: string }> {
  const url = await checkUrl(given.url, urlRules);
  const endpoint: Endpoint = {
    uuid: uuidv7(),
    firmUuid: actor.firmUuid,
    url,
    events: [...new Set(given.events)],
    description: given.description,
    enabled: true,
    disabledReason: null,
    createdAt: new Date(),
  };
  const secret = newSecret();
  await store.db.transaction(async (tx) => {
    if ((await store.endpoints.countLocked(tx, actor.firmUuid)) >= MAX_PER_FIRM) {
      const message = `A firm has at most ${MAX_PER_FIRM} webhooks. Delete one that is no longer used.`;
      throw new Fault('conflict', 'TOO_MANY_WEBHOOKS', message);
    }
    await store.endpoints.add(tx, endpoint, secret);
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.created', endpoint.uuid)]);
  });
  return { endpoint, secret };
}
