import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { textOf } from './text.ts';

describe('the text of bytes', () => {
  it('is what toString says, whatever the bytes are', () => {
    // Many times over, because what is short goes another way.
    const text = fc.string({ unit: 'binary', maxLength: 60 }).map((each) => Buffer.from(each.repeat(100)));
    const anything = fc
      .uint8Array({ maxLength: 60 })
      .map((each) => Buffer.concat(Array.from({ length: 100 }, () => each)));
    fc.assert(
      fc.property(fc.oneof(text, anything), (bytes) => {
        expect(textOf(bytes)).toBe(bytes.toString());
      }),
    );
  });

  it('keeps a byte order mark and characters beyond the first plane', () => {
    const text = `\uFEFF${'Кыргызча 😀 '.repeat(400)}`;
    expect(textOf(Buffer.from(text))).toBe(text);
    expect(textOf(Buffer.alloc(0))).toBe('');
  });
});
