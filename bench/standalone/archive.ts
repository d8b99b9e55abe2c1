import { execFileSync, spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type Objects, openDisk } from '@call-analysis/objects';
import { writeZip } from '@call-analysis/testing';
import { type ArchiveEntry, openEntry, readArchive, storedArchive } from '@call-analysis/zip';
import { atLeast, atMost, type Figure, median } from '../harness/figure.ts';

const KEY = 'frozen/archive.zip';
/** As many entries as the audio service extracts from an archive at the same time. */
const AT_ONCE = 4;

/** The validation of an archive by its directory, and the extraction of its recordings: inflated, checked and stored. */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const figures = await verdict(quick);
  if (spawnSync('unzip', ['-v']).error === undefined) return [...figures, ...(await extraction(quick))];
  console.error('unzip is not on this machine: extraction is not measured');
  return figures;
}

async function verdict(quick: boolean): Promise<Figure[]> {
  const zip = writeZip(
    Array.from({ length: 100_000 }, (_, index) => ({ name: `call-${String(index).padStart(6, '0')}.wav` })),
    { zip64: true },
  );
  const times: number[] = [];
  let bytesRead = 0;
  for (let round = 0; round < (quick ? 2 : 7); round++) {
    bytesRead = 0;
    const began = performance.now();
    await readArchive({
      sizeBytes: zip.bytes.length,
      open: async (start, end) => {
        bytesRead += end - start;
        return Readable.from([zip.bytes.subarray(start, end)]);
      },
    });
    times.push((performance.now() - began) / 1000);
  }
  const directory = zip.bytes.length - zip.directoryStart;
  return [
    atMost(1, {
      name: 'verdict on an archive of 100 k entries',
      value: median(times),
      unit: 's',
      yardstick: { name: 'limit, s', value: 1 },
    }),
    atMost(1.02, {
      name: 'bytes read for this verdict',
      value: bytesRead,
      unit: 'bytes',
      yardstick: { name: 'its directory', value: directory },
    }),
  ];
}

async function extraction(quick: boolean): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), 'call-analysis-archive-'));
  try {
    const objects = await openDisk({
      directory: join(directory, 'objects'),
      secret: 'no URL is signed in this benchmark',
    });
    const recordings = Array.from({ length: quick ? 20 : 100 }, (_, index) => ({
      name: `call-${index}.wav`,
      data: speechLike(index),
      method: 8 as const,
    }));
    const zip = writeZip(recordings);
    const file = join(directory, 'archive.zip');
    await writeFile(file, zip.bytes);
    await objects.put(KEY, createReadStream(file));
    const mebibytes = recordings.reduce((sum, { data }) => sum + data.length, 0) / 1024 ** 2;
    const { entries } = await readArchive({
      sizeBytes: zip.bytes.length,
      open: async (start, end) => Readable.from([zip.bytes.subarray(start, end)]),
    });
    const [ours, theirs]: number[][] = [[], []];
    for (let round = 0; round < (quick ? 2 : 5); round++) {
      theirs!.push(mebibytes / (await seconds(async () => void execFileSync('unzip', ['-tqq', file]))));
      ours!.push(mebibytes / (await seconds(() => extractAll(objects, zip.bytes.length, entries))));
    }
    return [
      atLeast(1, {
        name: 'extraction, checked and stored',
        value: median(ours!),
        unit: 'MiB/s',
        yardstick: { name: 'unzip -t, MiB/s', value: median(theirs!) },
      }),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function extractAll(objects: Objects, archiveBytes: number, entries: readonly ArchiveEntry[]): Promise<void> {
  const left = [...entries.entries()];
  const worker = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [index, { record }] = next;
      await objects.put(`recordings/${index}.wav`, await openEntry(storedArchive(objects, KEY, archiveBytes), record));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/** A minute of 8 kHz 16-bit stereo that compresses about as well as speech: half of it is almost silent. */
function speechLike(seed: number): Buffer {
  const samples = new Int16Array(8000 * 60 * 2);
  let state = seed + 1;
  for (let index = 0; index < samples.length; index++) {
    state = (state * 48_271) % 2_147_483_647;
    const loud = Math.floor(index / 16_000) % 2 === 0;
    samples[index] = Math.round((state / 2_147_483_647 - 0.5) * (loud ? 4000 : 8));
  }
  return Buffer.from(samples.buffer);
}
