import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Source } from './recording.ts';
import { partOf, sourceOfBytes, sourceOfFile } from './source.ts';

const folder = mkdtempSync(join(tmpdir(), 'recordings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const BYTES = Uint8Array.from({ length: 600_000 }, (_, i) => i % 251);

async function streamed(source: Source, start: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source.stream(start)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function expectBytes(source: Source, bytes: Uint8Array): Promise<void> {
  expect(source.sizeBytes).toBe(bytes.length);
  const offset = fc.nat(bytes.length + 10);
  await fc.assert(
    fc.asyncProperty(offset, offset, async (one, other) => {
      const [start, end] = one < other ? [one, other] : [other, one];
      const read = await source.read(start, end);
      expect(Buffer.compare(read, bytes.subarray(start, end))).toBe(0);
    }),
    { numRuns: 30 },
  );
  for (const start of [0, 1, bytes.length - 1, bytes.length]) {
    expect(Buffer.compare(await streamed(source, start), bytes.subarray(start))).toBe(0);
  }
}

describe('a source', () => {
  it('of bytes returns every range and stream of them', async () => {
    await expectBytes(sourceOfBytes(BYTES), BYTES);
  });

  it('of a file returns every range and stream of it until it is closed', async () => {
    const path = join(folder, 'whole');
    writeFileSync(path, BYTES);
    const source = await sourceOfFile(path);
    await expectBytes(source, BYTES);
    await source.close();
    await expect(source.read(0, 1)).rejects.toThrow();
  });

  it('of a file that was truncated after opening ends where the file now ends', async () => {
    const path = join(folder, 'cut');
    writeFileSync(path, BYTES);
    const source = await sourceOfFile(path);
    truncateSync(path, 1000);
    expect(await source.read(900, 2000)).toHaveLength(100);
    expect(await streamed(source, 0)).toHaveLength(1000);
    await source.close();
  });

  it('of a part returns only the bytes of that part', async () => {
    await expectBytes(partOf(sourceOfBytes(BYTES), 1000, 500_000), BYTES.subarray(1000, 500_000));
    await expectBytes(partOf(sourceOfBytes(BYTES), 599_000, 700_000), BYTES.subarray(599_000));
  });
});
