import { crc32 } from 'node:zlib';
import { Fault } from '@call-analysis/fault';
import { writeZip } from '@call-analysis/testing';
import { mutated } from '@call-analysis/testing/mutated';
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { openEntry, readArchive } from './index.ts';
import { WatchedSource } from './test/ranged-source.ts';

const numRuns = process.env['TEST_RUN'] === 'long' ? 20_000 : 400;

const data = Buffer.from('a recording that is long enough to be compressed, '.repeat(8));
const seeds = [
  writeZip([
    { name: 'a.wav', data, method: 8 },
    { name: 'b.wav', data },
  ]),
  writeZip([{ name: 'звонок.wav', data, method: 8, descriptor: 'signed' }]),
  writeZip([{ name: 'wide.wav', data, zip64: true }], { zip64: true }),
  writeZip(
    Array.from({ length: 6 }, (_, number) => ({
      name: `${number}.wav`,
      data,
      method: 8 as const,
      descriptor: 'plain' as const,
    })),
    { comment: Buffer.from('a comment') },
  ),
  writeZip(
    [
      { name: 'folder/', data: Buffer.alloc(0) },
      { name: '__MACOSX/a', data },
    ],
    { gap: Buffer.alloc(9) },
  ),
].map(({ bytes }) => bytes);

const words = [
  'PK\x01\x02',
  'PK\x03\x04',
  'PK\x05\x06',
  'PK\x06\x06',
  'PK\x06\x07',
  'PK\x07\x08',
  '../',
  '/',
  '\0',
  '\x01\0',
].map((each) => Buffer.from(each, 'latin1'));

/** The directory as ingest reads it, then every entry as audio reads it: `accepted`, or the code of the refusal. */
async function read(input: Buffer): Promise<string> {
  const source = new WatchedSource(input);
  try {
    const { entries } = await readArchive(source);
    for (const { record } of entries) {
      let [bytes, sum] = [0, 0];
      for await (const piece of await openEntry(source, record)) {
        bytes += piece.length;
        sum = crc32(piece, sum);
        if (bytes > record.bytes) throw new Error('An entry yields more bytes than the directory says.');
      }
      if (bytes !== record.bytes || sum !== record.crc32) throw new Error('An entry is not what the directory says.');
    }
    return 'accepted';
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'invalid') throw error;
    return error.code;
  }
}

it('every mutated archive is accepted or refused with a code', async () => {
  const outcomes = new Set<string>();
  const isRead = fc.asyncProperty(mutated(seeds, words), async (input) => void outcomes.add(await read(input)));
  await fc.assert(isRead, { numRuns, examples: seeds.map((seed) => [seed]) });
  expect(outcomes).toContain('accepted');
  expect(outcomes.size).toBeGreaterThan(3);
}, 600_000);
