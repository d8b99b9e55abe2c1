import type { Bus } from '@call-analysis/bus';
import type { Database } from '@call-analysis/postgres';
import { type Actor, auditEntry } from '@call-analysis/service';
import type { Endpoints } from './endpoint-store.ts';
import type { Endpoint } from './endpoint.ts';
import { newSecret } from './signature.ts';

/** How long a replaced secret also signs. */
const OVERLAP_MS = 24 * 3_600_000;
/** Of many rotations in a day, the newest replaced secrets sign. */
const MAX_OLD = 4;

/** Gives an endpoint a new secret and returns it. For 24 hours deliveries are signed with both. */
export async function rotateSecret(
  { db, endpoints, bus }: { readonly db: Database; readonly endpoints: Endpoints; readonly bus: Bus },
  actor: Actor,
  uuid: string,
  now = Date.now(),
): Promise<{ endpoint: Endpoint; secret: string }> {
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
  return { endpoint, secret };
}
