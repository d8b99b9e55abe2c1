import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode, sourceOfBytes } from '@call-analysis/recordings';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { preparedBundledModel } from '../models/bundled.ts';
import { peakBytes } from '../test/process-figures.ts';
import { wavOf } from '../test/transcription-service.ts';
import { TranscriptionWorkerPool } from './worker-pool.ts';

jest.setTimeout(600_000);

const fixture = new URL('../fixtures/two-voices.wav', import.meta.url);
/** The fixture has eleven seconds, so this is ten minutes. */
const REPETITIONS = 53;
const MEGABYTE = 1024 * 1024;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'call-analysis-memory-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function repeated(times: number): Promise<string> {
  const sides: [number[], number[]] = [[], []];
  for await (const { channels } of decode(sourceOfBytes(await readFile(fixture)), 'wav'))
    for (const side of [0, 1] as const) for (const sample of channels[side]!) sides[side].push(sample);
  const [left, right] = sides.map((samples) => Array.from({ length: times }, () => samples).flat()) as [
    number[],
    number[],
  ];
  const file = join(directory, `${times}.wav`);
  await writeFile(file, wavOf(left, right));
  return file;
}

describe('a worker with the bundled model', () => {
  it('holds less than 400 MB at most, and a long recording no more than a short one', async () => {
    await preparedBundledModel(directory);
    const pool = new TranscriptionWorkerPool({
      size: 1,
      recognition: () => ({ by: 'models', models: [], directory }),
    });
    try {
      const [short, long] = [await repeated(3), await repeated(REPETITIONS)];
      await pool.transcribe({ file: short, format: 'wav', duration: 34 });
      const [pid = 0] = pool.pids;
      const peakOfShort = peakBytes(pid);
      const { utterances } = await pool.transcribe({ file: long, format: 'wav', duration: 600 });
      expect(utterances.length).toBeGreaterThan(2 * REPETITIONS);
      expect(pool.pids).toEqual([pid]);
      expect(peakBytes(pid)).toBeLessThan(400 * MEGABYTE);
      expect(peakBytes(pid) - peakOfShort).toBeLessThan(60 * MEGABYTE);
    } finally {
      pool.close();
    }
  });
});
