import { timingSafeEqual } from 'node:crypto';
import { type HashKey, looksLikeKey, type Verdict } from './domain.ts';
import type { Uses } from './record-use.ts';
import type { Store } from './store.ts';

/**
 * What a key is. The work is the same whether a key exists, existed, or never did (one hash, one lookup that always
 * answers with a row, one comparison in constant time), so that the time taken tells nothing.
 */
export async function verifyKey(
  { store, hashKey, uses }: { store: Store; hashKey: HashKey; uses: Uses },
  key: string,
): Promise<Verdict> {
  if (!looksLikeKey(key)) return { verdict: 'MALFORMED' };
  const hash = hashKey(key);
  const found = await store.findKeyByHash(hash);
  if (!timingSafeEqual(found.hash, hash)) return { verdict: 'UNKNOWN' };
  if (!found.active) return { verdict: 'REVOKED' };
  uses.record(found.uuid);
  return { verdict: 'VALID', keyUuid: found.uuid, firmUuid: found.firm_uuid, userUuid: found.user_uuid };
}
