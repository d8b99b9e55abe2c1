import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { MAX_BYTES, page, partsOf } from './pages.ts';

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.string({ unit: 'binary', maxLength: 200 }));
const item = fc.record({ text, times: fc.nat(2000) }).map(({ text: one, times }) => ({ text: one.repeat(times) }));

interface Page {
  items: { text: string; shortened?: true }[];
  next_cursor: string | null;
}

describe('pages', () => {
  it('have at most 64 KiB, and together all items in their order', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), item, (items, facts) => {
        const seen: Page['items'] = [];
        let cursor: string | undefined;
        do {
          const json = page({ facts, name: 'items', items, cursor });
          expect(Buffer.byteLength(json)).toBeLessThanOrEqual(MAX_BYTES);
          const { items: shown, next_cursor } = JSON.parse(json) as Page;
          expect(shown.length > 0 || next_cursor === null).toBe(true);
          seen.push(...shown);
          cursor = next_cursor ?? undefined;
        } while (cursor !== undefined);
        expect(seen).toHaveLength(items.length);
        for (const [at, { text: shown, shortened }] of seen.entries()) {
          if (shortened) expect(items[at]?.text.toWellFormed().startsWith(shown.replace(/\uFFFD?…$/, ''))).toBe(true);
          else expect(shown).toBe(items[at]?.text);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('a long utterance is cut into parts, of which none is lost and no character is cut in two', () => {
    fc.assert(
      fc.property(item, ({ text: given }) => {
        const parts = partsOf(given);
        expect(parts.join('')).toBe(given);
        if (given.isWellFormed()) expect(parts.every((each) => each.isWellFormed())).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it.each(['', 'x', 'bnVsbA', Buffer.from('{"at":-1}').toString('base64url')])(
    'a cursor that no result had is refused: %j',
    (cursor) => {
      expect(() => page({ facts: {}, name: 'items', items: [], cursor })).toThrow(/next_cursor/);
    },
  );
});
