import { timingSafeEqual } from 'node:crypto';
import type { FoundKey, Store } from '../store.ts';
import { hasKeyForm, type HashKey, type KeyVerdict } from './api-key.ts';
import type { Uses } from './record-use.ts';

/**
 * Verifies keys with one lookup for each pepper and returns their verdicts in the same order. The work is the same whether
 * a key exists, was deleted or never existed (one hash, one row of the lookup, one constant-time comparison), so that the
 * time reveals nothing. A valid key that is stored under a previous pepper is stored under the current one from now on.
 */
export async function verifyKeys(
  parts: { store: Store; hashKey: HashKey; previousHashKeys: readonly HashKey[]; uses: Uses },
  keys: readonly string[],
): Promise<KeyVerdict[]> {
  const { store, hashKey, previousHashKeys, uses } = parts;
  const verdicts = await verdictsUnder(store, hashKey, keys);
  for (const previous of previousHashKeys) {
    if (verdicts.every(({ verdict }) => verdict !== 'UNKNOWN')) break;
    const older = await verdictsUnder(store, previous, keys);
    for (const [index, key] of keys.entries()) {
      const found = older[index];
      if (verdicts[index]?.verdict !== 'UNKNOWN' || found === undefined || found.verdict === 'UNKNOWN') continue;
      verdicts[index] = found;
      if (found.keyUuid !== undefined) await store.rehashKey(found.keyUuid, hashKey(key));
    }
  }
  for (const { keyUuid } of verdicts) {
    if (keyUuid !== undefined) uses.record(keyUuid);
  }
  return verdicts;
}

async function verdictsUnder(store: Store, hashKey: HashKey, keys: readonly string[]): Promise<KeyVerdict[]> {
  const hashes = keys.map((key) => (hasKeyForm(key) ? hashKey(key) : null));
  const found = await store.findKeysByHash(hashes);
  return hashes.map((hash, index) => verdictFor(hash, found[index]));
}

function verdictFor(hash: Buffer | null, found: FoundKey | undefined): KeyVerdict {
  if (hash === null) return { verdict: 'MALFORMED' };
  if (found === undefined) throw new Error('The lookup returned no row for a hash.');
  if (!timingSafeEqual(found.hash, hash)) return { verdict: 'UNKNOWN' };
  if (!found.active) return { verdict: 'REVOKED' };
  const { uuid: keyUuid, firm_uuid: firmUuid, user_uuid: userUuid, ends_in_ms: endsInMs } = found;
  return { verdict: 'VALID', keyUuid, firmUuid, userUuid, endsInMs };
}
