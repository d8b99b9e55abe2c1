import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { DataKeys } from './data-keys.ts';
import { encryptionKeysFrom } from './key-file.ts';
import { ValueCipher } from './values.ts';

const keys = encryptionKeysFrom({ ENCRYPTION_KEY: `a:${Buffer.alloc(32, 1).toString('base64')}` })!;
const documents = new Map<string, string>();

function open(): DataKeys {
  return new DataKeys(keys, {
    async *list() {
      yield* documents.keys();
    },
    read: async (name) => documents.get(name)!,
    write: async (name, document) => {
      documents.set(name, document);
    },
  });
}

describe('an encrypted value', () => {
  let cipher: ValueCipher;

  beforeAll(async () => {
    const dataKeys = open();
    await dataKeys.current();
    cipher = new ValueCipher(dataKeys);
  });

  it('is read again, and never looks the same twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (plain) => {
        const stored = cipher.encryptText(plain);
        expect(cipher.decryptText(stored)).toBe(plain);
        expect(cipher.encryptText(plain)).not.toBe(stored);
      }),
    );
  });

  it('is refused when a bit of it has changed', () => {
    const stored = cipher.encrypt(Buffer.from('words'));
    for (let at = 3; at < stored.length; at += 1) {
      const changed = Buffer.from(stored);
      changed[at]! ^= 1;
      expect(() => cipher.decrypt(changed)).toThrow();
    }
  });

  it('is distinguished from any plain text and from deflated bytes', () => {
    for (const plain of ['', 'words', '<operator>enc:']) expect(cipher.decryptText(plain)).toBe(plain);
    const bytes = Buffer.from([0x01, 0x02]);
    expect(cipher.decrypt(bytes)).toBe(bytes);
  });

  it('is read soon by a process that does not know its key yet', async () => {
    const late = open();
    const other = new ValueCipher(late);
    const stored = cipher.encrypt(Buffer.from('words'));
    expect(() => other.decrypt(stored)).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
    await late.current();
    expect(other.decrypt(stored).toString()).toBe('words');
  });
});
