import { timingSafeEqual } from 'node:crypto';
import type { FoundKey, Store } from '../store.ts';
import { hasKeyForm, type HashKey, type KeyVerdict } from './api-key.ts';
import type { Uses } from './record-use.ts';

/**
 * Verifies keys with one lookup and returns their verdicts in the same order. The work is the same whether a key exists,
 * was deleted or never existed (one hash, one row of the lookup, one constant-time comparison), so that the time reveals
 * nothing.
 */
export async function verifyKeys(
  { store, hashKey, uses }: { store: Store; hashKey: HashKey; uses: Uses },
  keys: readonly string[],
): Promise<KeyVerdict[]> {
  const hashes = keys.map((key) => (hasKeyForm(key) ? hashKey(key) : null));
  const found = await store.findKeysByHash(hashes);
  const verdicts = hashes.map((hash, index) => verdictFor(hash, found[index]));
  for (const { keyUuid } of verdicts) {
    if (keyUuid !== undefined) uses.record(keyUuid);
  }
  return verdicts;
}

function verdictFor(hash: Buffer | null, found: FoundKey | undefined): KeyVerdict {
  if (hash === null) return { verdict: 'MALFORMED' };
  if (found === undefined) throw new Error('The lookup returned no row for a hash.');
  if (!timingSafeEqual(found.hash, hash)) return { verdict: 'UNKNOWN' };
  if (!found.active) return { verdict: 'REVOKED' };
  return { verdict: 'VALID', keyUuid: found.uuid, firmUuid: found.firm_uuid, userUuid: found.user_uuid };
}
