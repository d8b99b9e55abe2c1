import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { sourceOfBytes } from '../source.ts';
import { countingSource } from '../test/fixture-files.ts';
import { BufferedReader } from './buffered-reader.ts';

const BYTES = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7 + (index >> 8)) & 0xff);

describe('a buffered reader', () => {
  it('returns the bytes of the source in order for any sequence of calls and any size of pieces', async () => {
    const move = fc.record({ how: fc.constantFrom('consume', 'skip'), count: fc.nat(90_000), fill: fc.nat(100_000) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(move, { maxLength: 12 }),
        fc.nat(1_000),
        fc.integer({ min: 1_000, max: BYTES.length }),
        fc.option(fc.integer({ min: 1, max: 70_000 }), { nil: undefined }),
        async (moves, start, end, rangeBytes) => {
          const reader = new BufferedReader(sourceOfBytes(BYTES), {
            start,
            end,
            ...(rangeBytes === undefined ? {} : { rangeBytes }),
          });
          let at = start;
          for (const { how, count, fill } of moves) {
            const enough = await reader.fill(fill);
            expect(enough).toBe(at + fill <= end);
            expect(reader.offset).toBe(at);
            expect(Buffer.compare(reader.bytes, BYTES.subarray(at, at + reader.bytes.length))).toBe(0);
            const moved = how === 'consume' ? Math.min(count, reader.bytes.length) : Math.min(count, end - at);
            if (how === 'consume') reader.consume(moved);
            else await reader.skip(count);
            at += moved;
          }
          await reader.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  it('does not read skipped bytes when it reads in ranges', async () => {
    const source = countingSource(sourceOfBytes(BYTES));
    const reader = new BufferedReader(source, { rangeBytes: 1_000 });
    await reader.fill(10);
    await reader.skip(250_000);
    await reader.fill(10);
    expect(reader.bytes[0]).toBe(BYTES[250_000]);
    expect(source.readBytes).toBe(2_000);
  });
});
