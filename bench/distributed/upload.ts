import { setTimeout as pause } from 'node:timers/promises';
import type { DistributedSystem } from '../../deploy/distributed/test/system.ts';
import { atMost, type Figure, median, noted } from '../harness/figure.ts';
import { resetPeak, peakMiB, residentMiB } from '../harness/memory.ts';
import { processorSeconds } from '../harness/processor.ts';
import { form, post, recording, recordingMiB } from '../harness/recording.ts';
import { minioOf } from './minio-client.ts';
import { openServers, type Servers } from './servers.ts';
import { minus, newFirmOf, secondsOfParts, startSix, total } from './system.ts';

const AT_ONCE = 16;
/** During the measurement, child processes of transcription transcribe the uploaded recordings. */
const restMs = 3_000;
const parts = ['gateway', 'audio', 'ingest', 'the store'] as const;

/**
 * One recording of 50 MiB from the client's first byte to the response: parsed from its form, hashed, probed, stored in
 * the bucket and registered. Compared with the minio client, which puts the same bytes into the same store.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const servers = await openServers();
  const system = await startSix(servers);
  try {
    const firm = await newFirmOf(system);
    const ours = () => post(`${system.url}/api/v1/audio/upload`, form(), { authorization: `Bearer ${firm.token}` });
    const theirs = straight(system);
    await ours();
    await theirs();
    const memory = await memoryOfMany(system, ours);
    await pause(quick ? restMs : 5 * restMs);
    const rates = { ours: [] as number[], theirs: [] as number[] };
    for (let round = 0; round < (quick ? 3 : 12); round++) {
      rates.theirs.push(await rate(theirs));
      rates.ours.push(await rate(ours));
      await pause(restMs);
    }
    const seconds = await costOf(system, servers, ours);
    const all = total(seconds);
    return [
      noted({
        name: 'upload of 50 MiB through gateway and audio into the store',
        value: median(rates.ours),
        unit: 'MiB/s',
        yardstick: { name: 'minio client, MiB/s', value: median(rates.theirs) },
      }),
      ...memory.map(({ service, value }) =>
        atMost(1, {
          name: `memory that ${AT_ONCE} such uploads at once add to ${service}`,
          value,
          unit: 'MiB',
          yardstick: { name: 'limit, MiB', value: 150 },
        }),
      ),
      noted({
        name: 'processor time of an upload',
        value: all * 1000,
        unit: 'ms',
        yardstick: { name: 'minio client and the store', value: (await costOfStraight(servers, theirs)) * 1000 },
      }),
      ...parts.map((part) =>
        noted({
          name: `of this: ${part}`,
          value: (seconds[part] ?? Number.NaN) * 1000,
          unit: 'ms',
          yardstick: { name: 'all', value: all * 1000 },
        }),
      ),
    ];
  } finally {
    await system.stop();
  }
}

/** Puts the same bytes into the same bucket, each time under a new key. */
function straight({ store }: DistributedSystem): () => Promise<void> {
  const client = minioOf(store);
  const file = Buffer.concat(recording);
  let put = 0;
  return async () => {
    await client.putObject(store.bucket, `bench/${put++}.wav`, file, file.length);
  };
}

async function rate(send: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await send();
  return recordingMiB / ((performance.now() - began) / 1000);
}

async function memoryOfMany(
  system: DistributedSystem,
  send: () => Promise<void>,
): Promise<{ service: string; value: number }[]> {
  await pause(restMs);
  const watched = (['gateway', 'audio'] as const).map((service) => ({
    service,
    pid: system.replicas(service)[0]!.pid,
  }));
  const before = watched.map(({ pid }) => residentMiB(pid));
  for (const { pid } of watched) resetPeak(pid);
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  return watched.map(({ service, pid }, i) => ({ service, value: peakMiB(pid) - before[i]! }));
}

const costRounds = 4;

/** Seconds of processor time of one upload, by part. */
async function costOf(
  system: DistributedSystem,
  servers: Servers,
  send: () => Promise<void>,
): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (let round = 0; round < costRounds; round++) {
    const before = secondsOfParts(system, servers);
    await send();
    const seconds = minus(secondsOfParts(system, servers), before);
    for (const part of parts) sums[part] = (sums[part] ?? 0) + (seconds[part] ?? Number.NaN) / costRounds;
    await pause(restMs);
  }
  return sums;
}

async function costOfStraight(servers: Servers, send: () => Promise<void>): Promise<number> {
  const store = () => (servers.store.pid === null ? 0 : processorSeconds(servers.store.pid));
  const [client, before] = [process.cpuUsage(), store()];
  for (let round = 0; round < costRounds; round++) await send();
  const { user, system } = process.cpuUsage(client);
  return ((user + system) / 1e6 + store() - before) / costRounds;
}
