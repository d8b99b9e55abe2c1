import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { DataKeys } from './data-keys.ts';
import { encryptionKeysFrom } from './key-file.ts';
import { decryptText, decryptValue, encryptText, encryptValue } from './values.ts';

const documents = new Map<string, string>();
const keys = new DataKeys(encryptionKeysFrom({ ENCRYPTION_KEY: `a:${Buffer.alloc(32, 1).toString('base64')}` })!, {
  async *list() {
    yield* documents.keys();
  },
  read: async (name) => documents.get(name)!,
  write: async (name, document) => {
    documents.set(name, document);
  },
});

describe('an encrypted value', () => {
  it('is read in its own row only', async () => {
    const key = await keys.current();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (plain) => {
        const stored = encryptText(key, plain, 'call-1');
        expect(await decryptText(keys, stored, 'call-1')).toBe(Buffer.from(plain).toString());
        await expect(decryptText(keys, stored, 'call-2')).rejects.toThrow();
        expect(encryptText(key, plain, 'call-1')).not.toBe(stored);
      }),
    );
  });

  it('is refused when a bit of it has changed', async () => {
    const stored = encryptValue(await keys.current(), Buffer.from('words'), 'call-1');
    for (let at = 3; at < stored.length; at += 1) {
      const changed = Buffer.from(stored);
      changed[at]! ^= 1;
      await expect(decryptValue(keys, changed, 'call-1')).rejects.toThrow();
    }
  });

  it('is stored and read as it is without a key', async () => {
    const plain = Buffer.from('words');
    expect(encryptValue(null, plain, 'x')).toBe(plain);
    expect(await decryptValue(null, plain, 'x')).toBe(plain);
    expect(await decryptText(keys, 'words', 'x')).toBe('words');
  });

  it('is not shown as it is when the key is gone', async () => {
    const stored = encryptText(await keys.current(), 'words', 'x');
    await expect(decryptText(null, stored, 'x')).rejects.toThrow(/ENCRYPTION_KEY_FILE/);
  });
});
