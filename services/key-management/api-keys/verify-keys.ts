import { timingSafeEqual } from 'node:crypto';
import type { KeyVerdict } from '@call-analysis/proto/key_management/v1/KeyVerdict';
import type { FoundKey } from '../store/api-keys.ts';
import type { Store } from '../store/store.ts';
import { hasKeyForm, type HashKey } from './api-key.ts';
import type { Uses } from './record-use.ts';

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
    keys.map((key) => (hasKeyForm(key) ? hash(key) : null)),
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
