import { randomUUID } from 'node:crypto';
import { ApiKeyRevoked } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Page } from '@call-analysis/postgres';
import type { CreateKeyReply } from '@call-analysis/proto/key_management/v1/CreateKeyReply';
import { type Caller, type Firm, newUser, noSuch, requireRole } from '../domain.ts';
import type { ListedKey } from '../store/api-keys.ts';
import { Duplicate, type Store, type Transaction } from '../store/store.ts';
import { type HashKey, keyPrefix, makeKey } from './api-key.ts';

/**
 * Creates the API key of a firm, and the API user on whose behalf it acts unless the firm has one (docs/api.md, "Keys and
 * users"). A caller who may create keys may do so for any firm. Faults: FORBIDDEN, NOT_FOUND, KEY_EXISTS.
 */
export async function createKey(
  { store, hashKey }: { store: Store; hashKey: HashKey },
  caller: Caller,
  firmUuid: string,
  expiresAt: Date | null = null,
): Promise<CreateKeyReply> {
  requireRole(caller, ['SUPERUSER', 'WORKFLOW_ENGINEER'], 'Creating an API key');
  try {
    return await store.transaction(async (tx) => {
      const firm = await tx.findFirm(firmUuid);
      if (firm === null) throw noSuch('firm');
      await tx.removeExpiredKey(firmUuid);
      const userUuid = (await tx.findApiUser(firmUuid)) ?? (await addApiUser(tx, caller, firmUuid));
      return addKey(tx, hashKey, caller, firm, { userUuid, expiresAt });
    });
  } catch (error) {
    // The unique indexes decide between concurrent requests. A duplicate API user means the same as a duplicate key:
    // another request was first and has committed.
    if (!(error instanceof Duplicate)) throw error;
    throw new Fault(
      'conflict',
      'KEY_EXISTS',
      'The firm already has an active API key. Delete that key before you create another.',
      { cause: error },
    );
  }
}

/** The full key is not stored, so this is the only time it is shown. */
async function addKey(
  tx: Transaction,
  hashKey: HashKey,
  caller: Caller,
  { uuid: firmUuid, name }: Firm,
  of: { readonly userUuid: string; readonly expiresAt: Date | null },
): Promise<CreateKeyReply> {
  const [uuid, apiKey, prefix] = [randomUUID(), makeKey(firmUuid), keyPrefix(firmUuid)];
  await tx.createKey({ ...of, uuid, firmUuid, prefix, hash: hashKey(apiKey) });
  await tx.addAuditEntry(caller, 'api_key.created', uuid, firmUuid);
  return { api_key: apiKey, key_prefix: prefix, firm_uuid: firmUuid, firm_name: name };
}

async function addApiUser(tx: Transaction, caller: Caller, firmUuid: string): Promise<string> {
  const user = newUser({ firmUuid, name: 'API user', role: 'ADMIN', operatorIds: [], webApiOnly: true });
  await tx.addUser(user);
  await tx.addAuditEntry(caller, 'user.created', user.uuid, firmUuid);
  return user.uuid;
}

/**
 * Replaces a firm's active key. The old one works for `graceSeconds` and is no longer listed. The new one lives as long as
 * the old one was made to. Faults: FORBIDDEN; NOT_FOUND, also when the key was deleted, replaced or has expired.
 */
export async function rotateKey(
  { store, hashKey }: { store: Store; hashKey: HashKey },
  caller: Caller,
  keyUuid: string,
  graceSeconds: number,
): Promise<CreateKeyReply> {
  requireRole(caller, ['SUPERUSER'], 'Rotating an API key');
  const now = Date.now();
  return store.transaction(async (tx) => {
    const replaced = await tx.replaceKey(keyUuid, new Date(now + graceSeconds * 1000));
    if (replaced === null) throw noSuch('API key');
    const { firmUuid, userUuid, createdAt, expiresAt } = replaced;
    const firm = await tx.findFirm(firmUuid);
    if (firm === null) throw noSuch('firm');
    const lifetimeMs = expiresAt === null ? null : expiresAt.getTime() - createdAt.getTime();
    if (graceSeconds === 0) {
      await tx.publish(ApiKeyRevoked, { subject: keyUuid, firmUuid, data: { key_uuid: keyUuid } });
    }
    await tx.addAuditEntry(caller, 'api_key.rotated', keyUuid, firmUuid);
    const expires = lifetimeMs === null ? null : new Date(now + lifetimeMs);
    return addKey(tx, hashKey, caller, firm, { userUuid, expiresAt: expires });
  });
}

/**
 * Deletes a key permanently and publishes that it was revoked, because gateways cache keys. The keys that it replaced end
 * with it, and a replaced key that still works can be deleted alone.
 * Faults: FORBIDDEN; NOT_FOUND, also when the key was deleted before.
 */
export async function deleteKey({ store }: { store: Store }, caller: Caller, keyUuid: string): Promise<void> {
  requireRole(caller, ['SUPERUSER'], 'Deleting an API key');
  await store.transaction(async (tx) => {
    const deleted = await tx.deleteKey(keyUuid);
    if (deleted === null) throw noSuch('API key');
    const { firmUuid, uuids } = deleted;
    for (const uuid of uuids) {
      await tx.publish(ApiKeyRevoked, { subject: uuid, firmUuid, data: { key_uuid: uuid } });
    }
    await tx.addAuditEntry(caller, 'api_key.deleted', keyUuid, firmUuid);
  });
}

/** One page of the active keys of all firms, newest first, and their total number. Fault: FORBIDDEN. */
export async function listKeys(
  { store }: { store: Store },
  caller: Caller,
  page: Page,
): Promise<{ count: number; items: readonly ListedKey[] }> {
  requireRole(caller, ['SUPERUSER'], 'Listing API keys');
  return store.listActiveKeys(page);
}
