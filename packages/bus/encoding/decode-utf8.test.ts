import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { decodeUtf8 } from './decode-utf8.ts';

describe('decodeUtf8', () => {
  it('returns what toString returns, for any bytes', () => {
    // Repeated, because short texts are decoded by toString itself.
    const text = fc.string({ unit: 'binary', maxLength: 60 }).map((each) => Buffer.from(each.repeat(100)));
    const anything = fc
      .uint8Array({ maxLength: 60 })
      .map((each) => Buffer.concat(Array.from({ length: 100 }, () => each)));
    fc.assert(
      fc.property(fc.oneof(text, anything), (bytes) => {
        expect(decodeUtf8(bytes)).toBe(bytes.toString());
      }),
    );
  });

  it('keeps a byte order mark and characters beyond the basic plane', () => {
    const text = `\uFEFF${'Кыргызча 😀 '.repeat(400)}`;
    expect(decodeUtf8(Buffer.from(text))).toBe(text);
    expect(decodeUtf8(Buffer.alloc(0))).toBe('');
  });
});
