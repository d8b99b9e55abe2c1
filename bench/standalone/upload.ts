import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atLeast, atMost, type Figure, median } from '../harness/figure.ts';
import { resetPeak, peakMiB, residentMiB } from '../harness/memory.ts';
import { form, post, recordingMiB } from '../harness/recording.ts';

const AT_ONCE = 16;

/**
 * One recording of 50 MiB in a form, from the first byte sent to the response: parsed, hashed, stored, probed,
 * registered. Compared with multer, which writes the same body to disk, and with multer that also hashes it and waits
 * for the disk (fsync). Both servers are separate processes on loopback.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 3 : 12;
  const multer = fork(fileURLToPath(new URL('./multer-server.ts', import.meta.url)));
  const [port] = (await once(multer, 'message')) as [number];
  const service = await startService();
  try {
    const { token } = await newFirm(service);
    const ours = () => post(`${service.url}/api/v1/audio/upload`, form(), { authorization: `Bearer ${token}` });
    const bare = () => post(`http://127.0.0.1:${port}/`, form());
    const durable = () => post(`http://127.0.0.1:${port}/durable`, form());
    for (const upload of [ours, bare, durable]) await upload();
    await pause(2000);
    const before = residentMiB(service.pid);
    resetPeak(service.pid);
    await Promise.all(Array.from({ length: AT_ONCE }, ours));
    const rise = peakMiB(service.pid) - before;
    await pause(quick ? 3000 : 15_000);
    const rates = { ours: [] as number[], bare: [] as number[], durable: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.bare.push(await rate(bare));
      rates.ours.push(await rate(ours));
      rates.durable.push(await rate(durable));
      // The uploaded recordings are transcribed at the same time.
      await pause(quick ? 1000 : 3000);
    }
    const figure = (name: string, theirs: readonly number[]) => ({
      name: 'upload of 50 MiB, probed, hashed, registered',
      value: median(rates.ours),
      unit: 'MiB/s',
      yardstick: { name, value: median(theirs) },
      ratios: rates.ours.map((each, round) => each / theirs[round]!),
    });
    return [
      atLeast(1, figure('multer that hashes and waits for the disk, MiB/s', rates.durable)),
      atLeast(0.75, figure('bare multer, MiB/s', rates.bare)),
      atMost(1, {
        name: `memory that ${AT_ONCE} concurrent uploads of 50 MiB add to the service`,
        value: rise,
        unit: 'MiB',
        yardstick: { name: 'limit, MiB', value: 150 },
      }),
    ];
  } finally {
    multer.disconnect();
    await service.stop();
  }
}

async function rate(upload: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await upload();
  return recordingMiB / ((performance.now() - started) / 1000);
}
