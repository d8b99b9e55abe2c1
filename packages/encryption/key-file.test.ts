import { describe, expect, it } from '@jest/globals';
import { encryptionKeysFrom } from './key-file.ts';

const key = Buffer.alloc(32, 1).toString('base64');

describe('the key file', () => {
  it('is not needed', () => {
    expect(encryptionKeysFrom({})).toBeUndefined();
  });

  it('names its keys; the first one is used', () => {
    const keys = encryptionKeysFrom({ ENCRYPTION_KEY: `# keys\n\n2026-11:${key}\r\nold:${key}\n` });
    expect([keys?.current, [...keys!.byId.keys()]]).toEqual(['2026-11', ['2026-11', 'old']]);
  });

  it.each([
    ['a key without an id', key, /line 1 is not an id, a colon and 32 bytes/],
    ['a short key', `a:${key.slice(8)}`, /line 1 is not/],
    ['an id twice', `a:${key}\na:${key}`, /line 2 has the id a again/],
    ['no key', '# nothing', /it holds no key/],
  ])('is refused with %s, and the message says how to make one but not what it holds', (_, text, message) => {
    const read = () => encryptionKeysFrom({ ENCRYPTION_KEY: text });
    expect(read).toThrow(message);
    expect(read).not.toThrow(key.slice(8, 20));
  });
});
