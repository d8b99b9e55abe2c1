import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from './source.ts';
import { counted } from './test/fixtures.ts';
import { Window } from './window.ts';

const BYTES = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7 + (index >> 8)) & 0xff);

describe('a window', () => {
  it('shows the bytes of the source in order, however it is moved and however they come', async () => {
    const move = fc.record({ how: fc.constantFrom('drop', 'skip'), count: fc.nat(90_000), has: fc.nat(100_000) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(move, { maxLength: 12 }),
        fc.nat(1_000),
        fc.integer({ min: 1_000, max: BYTES.length }),
        fc.option(fc.integer({ min: 1, max: 70_000 }), { nil: undefined }),
        async (moves, start, end, rangeBytes) => {
          const window = new Window(sourceOfBytes(BYTES), {
            start,
            end,
            ...(rangeBytes === undefined ? {} : { rangeBytes }),
          });
          let at = start;
          for (const { how, count, has } of moves) {
            const enough = await window.has(has);
            expect(enough).toBe(at + has <= end);
            expect(window.offset).toBe(at);
            expect(Buffer.compare(window.bytes, BYTES.subarray(at, at + window.bytes.length))).toBe(0);
            const moved = how === 'drop' ? Math.min(count, window.bytes.length) : Math.min(count, end - at);
            if (how === 'drop') window.drop(moved);
            else await window.skip(count);
            at += moved;
          }
          await window.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  it('does not read what is skipped when it reads by ranges', async () => {
    const source = counted(sourceOfBytes(BYTES));
    const window = new Window(source, { rangeBytes: 1_000 });
    await window.has(10);
    await window.skip(250_000);
    await window.has(10);
    expect(window.bytes[0]).toBe(BYTES[250_000]);
    expect(source.readBytes).toBe(2_000);
  });
});
