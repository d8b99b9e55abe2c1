import { type Actor, auditEntry } from '@call-analysis/service';
import type { Parts } from '../parts.ts';
import { newSecret } from '../sending/signature.ts';
import type { Endpoint } from './endpoint.ts';

/** How long a replaced secret also signs. */
const OVERLAP_MS = 24 * 3_600_000;
/** Of many rotations in a day, the newest replaced secrets sign. */
const MAX_OLD = 4;

/** Gives an endpoint a new secret and returns it. For 24 hours deliveries are signed with both. */
export async function rotateSecret(
  { store, bus }: Pick<Parts, 'store' | 'bus'>,
  actor: Actor,
  uuid: string,
  now = Date.now(),
): Promise<{ endpoint: Endpoint; secret: string }> {
  const secret = newSecret();
  const endpoint = await store.db.transaction(async (tx) => {
    const found = await store.endpoints.get(actor.firmUuid, uuid, tx, 'FOR UPDATE');
    const current = await store.endpoints.secretsOf(tx, uuid);
    const replaced = { secret: current.secret, until: new Date(now + OVERLAP_MS).toISOString() };
    const oldSecrets = [replaced, ...current.oldSecrets.filter(({ until }) => Date.parse(until) > now)];
    await store.endpoints.setSecrets(tx, uuid, { secret, oldSecrets: oldSecrets.slice(0, MAX_OLD) });
    await bus.publish(tx, [auditEntry('webhooks', actor, 'webhook.secret_rotated', uuid)]);
    return found;
  });
  return { endpoint, secret };
}
