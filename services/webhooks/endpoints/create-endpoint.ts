import type { Bus } from '@call-analysis/bus';
import { Fault } from '@call-analysis/fault';
import type { Database } from '@call-analysis/postgres';
import { type Actor, auditEntry } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import { checkUrl, type UrlRules } from '../addresses/check-url.ts';
import type { Endpoints } from './endpoint-store.ts';
import type { Endpoint } from './endpoint.ts';
import { newSecret } from './signature.ts';

/** Every event of a firm is stored once for each of its endpoints. */
const MAX_PER_FIRM = 100;

/** Adds an endpoint and returns it with its secret, which is not shown again. Fault URL_NOT_ALLOWED or TOO_MANY_WEBHOOKS. */
export async function createEndpoint(
  {
    db,
    endpoints,
    bus,
    urlRules,
  }: { readonly db: Database; readonly endpoints: Endpoints; readonly bus: Bus; readonly urlRules: UrlRules },
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
  await db.transaction(async (tx) => {
    if ((await endpoints.countLocked(tx, actor.firmUuid)) >= MAX_PER_FIRM) {
      const message = `A firm has at most ${MAX_PER_FIRM} webhooks. Delete one that is no longer used.`;
      throw new Fault('conflict', 'TOO_MANY_WEBHOOKS', message);
    }
    await endpoints.add(tx, endpoint, secret);
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.created', endpoint.uuid)]);
  });
  return { endpoint, secret };
}
