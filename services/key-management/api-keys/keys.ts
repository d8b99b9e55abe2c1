import { randomUUID, timingSafeEqual } from 'node:crypto';
import { hasApiKeyForm } from '@call-analysis/api/access';
import { ApiKeyRevoked } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Page } from '@call-analysis/postgres';
import type { CreateKeyReply } from '@call-analysis/proto/key_management/v1/CreateKeyReply';
import type { KeyVerdict } from '@call-analysis/proto/key_management/v1/KeyVerdict';
import { type Caller, type Firm, newUser, noSuch, requireRole } from '../domain.ts';
import type { FoundKey, ListedKey } from '../store/api-keys.ts';
import { Duplicate, type Store, type Transaction } from '../store/store.ts';
import { type HashKey, keyPrefix, makeKey } from './api-key.ts';
import type { Uses } from './record-use.ts';

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
    if (graceSeconds === 0) {
      await tx.publish(ApiKeyRevoked, { subject: keyUuid, firmUuid, data: { key_uuid: keyUuid } });
    }
    await tx.addAuditEntry(caller, 'api_key.rotated', keyUuid, firmUuid);
    const expires = expiresAt === null ? null : new Date(now + expiresAt.getTime() - createdAt.getTime());
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

/**
 * Verifies keys with one lookup and returns their verdicts in the same order. The work is the same whether a key exists, was
 * deleted or never existed (one hash, one row of the lookup and one constant-time comparison for each pepper), so that the
 * time reveals nothing. A valid key that is stored under a previous pepper is stored under the current one from now on.
 */
export async function verifyKeys(
  parts: {
    store: Store;
    hashKey: HashKey;
    previousHashKeys: readonly HashKey[];
    nextHashKeys: readonly HashKey[];
    uses: Uses;
  },
  keys: readonly string[],
): Promise<KeyVerdict[]> {
  const { store, hashKey, previousHashKeys, nextHashKeys, uses } = parts;
  const hashes = [hashKey, ...previousHashKeys, ...nextHashKeys].flatMap((hash) =>
    keys.map((key) => (hasApiKeyForm(key) ? hash(key) : null)),
  );
  // One statement for all peppers: between two, another process could store a key under another pepper.
  const found = await store.findKeysByHash(hashes);
  const all = hashes.map((hash, index) => verdictFor(hash, found[index]));
  const verdicts = all.slice(0, keys.length);
  for (const [index, verdict] of all.entries()) {
    const key = index % keys.length;
    if (index < keys.length || verdicts[key]?.verdict !== 'UNKNOWN' || verdict.verdict === 'UNKNOWN') continue;
    verdicts[key] = verdict;
    const isPrevious = index < (1 + previousHashKeys.length) * keys.length;
    if (isPrevious && verdict.key_uuid !== '') await store.rehashKey(verdict.key_uuid, hashKey(keys[key]!));
  }
  for (const { key_uuid } of verdicts) {
    if (key_uuid !== '') uses.record(key_uuid);
  }
  return verdicts;
}

/** An invalid key is a result, not an error. */
function verdictFor(hash: Buffer | null, found: FoundKey | undefined): KeyVerdict {
  const none = { key_uuid: '', firm_uuid: '', user_uuid: '' };
  if (hash === null) return { verdict: 'MALFORMED', ...none };
  if (found === undefined) throw new Error('The lookup returned no row for a hash.');
  if (!timingSafeEqual(found.hash, hash)) return { verdict: 'UNKNOWN', ...none };
  if (!found.active) return { verdict: 'REVOKED', ...none };
  const { uuid: key_uuid, firm_uuid, user_uuid, ends_in_ms } = found;
  return { verdict: 'VALID', key_uuid, firm_uuid, user_uuid, ...(ends_in_ms !== null && { ends_in_ms }) };
}
