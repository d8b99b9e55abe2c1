import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Objects, openObjects } from '@call-analysis/objects';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { storedSource } from './stored-source.ts';

const bytes = randomBytes(300_000);

let directory: string;
let objects: Objects;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'call-analysis-source-'));
  objects = await openObjects({ store: 'disk', directory, secret: 'a secret of at least thirty-two bytes' });
  await objects.put('a', Readable.from([bytes]));
});

afterAll(() => rm(directory, { recursive: true }));

it('reads any range, in any order, and up to the end', async () => {
  const offset = fc.oneof(
    fc.nat(bytes.length + 10),
    fc.constantFrom(0, 16_384, 16_383, bytes.length - 1, bytes.length),
  );
  const reads = fc.array(fc.tuple(offset, fc.oneof(fc.nat(100), fc.nat(40_000))), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(reads, async (asked) => {
      const source = storedSource(objects, 'a', bytes.length);
      for (const [start, length] of asked) {
        const read = await source.read(start, start + length);
        expect(Buffer.compare(read, bytes.subarray(start, start + length))).toBe(0);
      }
    }),
    { numRuns: 30 },
  );
});

it('streams from any offset to the end', async () => {
  const source = storedSource(objects, 'a', bytes.length);
  for (const start of [0, 1, 100_000, bytes.length - 1, bytes.length]) {
    const rest = await buffer(source.stream(start) as AsyncIterable<Uint8Array>);
    expect(rest.equals(bytes.subarray(start))).toBe(true);
  }
});

it('reads that are close together cost one request', async () => {
  let opened = 0;
  const counting = {
    ...objects,
    open: (...given: Parameters<Objects['open']>) => {
      opened += 1;
      return objects.open(...given);
    },
  };
  const source = storedSource(counting, 'a', bytes.length);
  for (let at = 0; at < 16_000; at += 100) await source.read(at, at + 8);
  expect(opened).toBe(1);
});
