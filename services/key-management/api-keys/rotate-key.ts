import { randomUUID } from 'node:crypto';
import { ApiKeyRevoked } from '@call-analysis/events';
import { type Caller, noSuch, requireRole } from '../domain.ts';
import type { Store } from '../store/store.ts';
import { type HashKey, keyPrefix, makeKey } from './api-key.ts';
import type { CreatedKey } from './create-key.ts';

/**
 * Replaces a firm's active key. The old one works for `graceSeconds` and is no longer listed. The new one lives as long as
 * the old one was made to. Faults: FORBIDDEN; NOT_FOUND, also when the key was deleted, replaced or has expired.
 */
export async function rotateKey(
  { store, hashKey }: { store: Store; hashKey: HashKey },
  caller: Caller,
  keyUuid: string,
  graceSeconds: number,
): Promise<CreatedKey> {
  requireRole(caller, ['SUPERUSER'], 'Rotating an API key');
  const now = Date.now();
  const uuid = randomUUID();
  return store.transaction(async (tx) => {
    const replaced = await tx.replaceKey(keyUuid, new Date(now + graceSeconds * 1000));
    if (replaced === null) throw noSuch('API key');
    const { firmUuid, userUuid, createdAt, expiresAt } = replaced;
    const firm = await tx.findFirm(firmUuid);
    if (firm === null) throw noSuch('firm');
    const apiKey = makeKey(firmUuid);
    const prefix = keyPrefix(firmUuid);
    const lifetimeMs = expiresAt === null ? null : expiresAt.getTime() - createdAt.getTime();
    await tx.createKey({
      uuid,
      firmUuid,
      userUuid,
      prefix,
      hash: hashKey(apiKey),
      expiresAt: lifetimeMs === null ? null : new Date(now + lifetimeMs),
    });
    if (graceSeconds === 0) {
      await tx.publish(ApiKeyRevoked, { subject: keyUuid, firmUuid, data: { key_uuid: keyUuid } });
    }
    await tx.addAuditEntry(caller, 'api_key.rotated', keyUuid, firmUuid);
    await tx.addAuditEntry(caller, 'api_key.created', uuid, firmUuid);
    return { apiKey, prefix, firm: { uuid: firm.uuid, name: firm.name } };
  });
}
