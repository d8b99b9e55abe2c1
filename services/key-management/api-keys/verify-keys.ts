import { timingSafeEqual } from 'node:crypto';
import { type HashKey, looksLikeKey, type Verdict } from '../domain.ts';
import type { FoundKey, Store } from '../store.ts';
import type { Uses } from './record-use.ts';

/**
 * What each key is, in the order of the keys, by one lookup for all. The work is the same whether a key exists, existed,
 * or never did (one hash, one row of the lookup, one comparison in constant time), so that the time taken tells nothing.
 */
export async function verifyKeys(
  { store, hashKey, uses }: { store: Store; hashKey: HashKey; uses: Uses },
  keys: readonly string[],
): Promise<Verdict[]> {
  const hashes = keys.map((key) => (looksLikeKey(key) ? hashKey(key) : null));
  const found = await store.findKeysByHash(hashes);
  const verdicts = hashes.map((hash, place) => verdictOn(hash, found[place]));
  for (const { keyUuid } of verdicts) {
    if (keyUuid !== undefined) uses.record(keyUuid);
  }
  return verdicts;
}

function verdictOn(hash: Buffer | null, found: FoundKey | undefined): Verdict {
  if (hash === null) return { verdict: 'MALFORMED' };
  if (found === undefined) throw new Error('A lookup that answers for every hash left one out.');
  if (!timingSafeEqual(found.hash, hash)) return { verdict: 'UNKNOWN' };
  if (!found.active) return { verdict: 'REVOKED' };
  return { verdict: 'VALID', keyUuid: found.uuid, firmUuid: found.firm_uuid, userUuid: found.user_uuid };
}
