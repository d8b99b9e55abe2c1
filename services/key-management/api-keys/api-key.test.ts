import { randomUUID } from 'node:crypto';
import { hasApiKeyForm } from '@call-analysis/api/access';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { FoundKey } from '../store/api-keys.ts';
import type { Store } from '../store/store.ts';
import { keyHasher, keyPrefix, makeKey } from './api-key.ts';
import { verifyKeys } from './keys.ts';

const PEPPER = 'a pepper of at least thirty-two bytes';

describe('an API key', () => {
  it("is the first 7 characters of the firm's uuid, a dollar sign and 43 base62 characters", () => {
    fc.assert(
      fc.property(fc.uuid(), (firmUuid) => {
        const key = makeKey(firmUuid.toUpperCase());
        expect(key).toMatch(/^[0-9a-f-]{7}\$[0-9A-Za-z]{43}$/);
        expect(key.slice(0, 7)).toBe(firmUuid.slice(0, 7));
        expect(keyPrefix(firmUuid)).toBe(firmUuid.slice(0, 7));
        expect(hasApiKeyForm(key)).toBe(true);
      }),
    );
  });

  it('is never generated twice, and has every digit at every position but the first', () => {
    const secrets = Array.from({ length: 4_000 }, () => makeKey('01234567-89ab-4cde-8f01-23456789abcd').slice(8));
    expect(new Set(secrets).size).toBe(secrets.length);
    for (let position = 1; position < 43; position++) {
      const counts = new Map<string, number>();
      for (const secret of secrets) {
        const digit = secret.charAt(position);
        counts.set(digit, (counts.get(digit) ?? 0) + 1);
      }
      expect(counts.size).toBe(62);
      // 64.5 are expected of each digit, with a standard deviation of 8.
      expect(Math.max(...counts.values())).toBeLessThan(64.5 + 8 * 8);
    }
  });

  it('with 7 characters, a dollar sign and at least one more character is not malformed', () => {
    const seven = fc.string({ unit: 'binary', minLength: 7, maxLength: 7 });
    fc.assert(
      fc.property(seven, fc.string({ unit: 'binary', minLength: 1 }), (prefix, rest) => {
        expect(hasApiKeyForm(`${prefix}$${rest}`)).toBe(true);
      }),
    );
  });

  it.each(['', '$', 'abcdef1', 'abcdef1$', 'abcdef$secret', 'abcdef12$secret', 'Bearer x', '1234567'])(
    'of any other form is malformed: %j',
    (text) => {
      expect(hasApiKeyForm(text)).toBe(false);
    },
  );
});

describe('the hash of a key', () => {
  const hash = keyHasher(PEPPER);

  it('is the same for the same key and differs for any other key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
        expect(hash(one)).toHaveLength(32);
        expect(hash(one).equals(hash(other))).toBe(one === other);
      }),
    );
  });

  it('is HMAC-SHA-256 keyed with the pepper', () => {
    // The output of `openssl dgst -sha256 -hmac key`.
    expect(keyHasher('key')('The quick brown fox jumps over the lazy dog').toString('hex')).toBe(
      'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
    );
  });

  it('differs under another pepper', () => {
    expect(hash('abcdef1$x').equals(keyHasher(`${PEPPER}!`)('abcdef1$x'))).toBe(false);
  });
});

it('a key that another process stores under the new pepper meanwhile is valid', async () => {
  const [hashKey, previous] = [keyHasher(PEPPER), keyHasher('the pepper before, of thirty-two bytes')];
  const uuid = randomUUID();
  const key = makeKey(uuid);
  const row = { uuid, firm_uuid: uuid, user_uuid: uuid, active: true, ends_in_ms: null };
  let stored = previous(key);
  const store = {
    async findKeysByHash(hashes: readonly (Buffer | null)[]): Promise<FoundKey[]> {
      const found = hashes.map((hash) => {
        const isStored = hash?.equals(stored) === true;
        return isStored ? { ...row, hash: stored } : { ...row, active: false, hash: Buffer.alloc(32) };
      });
      stored = hashKey(key);
      return found;
    },
    rehashKey: async () => {},
  } as Partial<Store> as Store;
  const uses = { record: () => {}, flush: async () => {}, close: async () => {} };
  const parts = { store, hashKey, previousHashKeys: [previous], nextHashKeys: [], uses };
  expect(await verifyKeys(parts, [key])).toMatchObject([{ verdict: 'VALID', key_uuid: uuid }]);
});
