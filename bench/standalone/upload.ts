import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { wavHeader } from '@call-analysis/testing';
import { newFirm } from '../../deploy/standalone/test/client/new-firm.ts';
import { metadataOf } from '../../deploy/standalone/test/client/valid-uploads.ts';
import { startService } from '../../deploy/standalone/test/system/service-process.ts';
import { atLeast, atMost, type Figure, median } from '../harness/figure.ts';
import { peakMiB, resetPeak, residentMiB } from '../harness/processes.ts';

const AT_ONCE = 16;
const MIB = 50;
const HEADER_BYTES = 44;

/**
 * One recording of 50 MiB in a form, from the first byte sent to the response: parsed, hashed, stored, probed,
 * registered. Compared with multer, which writes the same body to disk, hashes it and waits for the disk (fsync). Both
 * servers are separate processes on loopback.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 3 : 12;
  const multer = fork(fileURLToPath(new URL('./multer-server.ts', import.meta.url)));
  const [port] = (await once(multer, 'message')) as [number];
  const service = await startService();
  try {
    const { token } = await newFirm(service);
    const ours = () => post(`${service.url}/api/v1/audio/upload`, { authorization: `Bearer ${token}` });
    const theirs = () => post(`http://127.0.0.1:${port}/`);
    for (const upload of [ours, theirs]) await upload();
    await pause(2000);
    const before = residentMiB(service.pid);
    resetPeak(service.pid);
    await Promise.all(Array.from({ length: AT_ONCE }, ours));
    const rise = peakMiB(service.pid) - before;
    await pause(quick ? 3000 : 15_000);
    const rates = { ours: [] as number[], theirs: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.ours.push(await rate(ours));
      rates.theirs.push(await rate(theirs));
      // The uploaded recordings are transcribed at the same time.
      await pause(quick ? 1000 : 3000);
    }
    return [
      atLeast(1, {
        name: 'upload of 50 MiB, probed, hashed, registered',
        value: median(rates.ours),
        unit: 'MiB/s',
        yardstick: { name: 'multer that hashes and waits for the disk, MiB/s', value: median(rates.theirs) },
        ratios: rates.ours.map((each, round) => each / rates.theirs[round]!),
      }),
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
  return MIB / ((performance.now() - started) / 1000);
}

const dataBytes = MIB * 1024 ** 2 - HEADER_BYTES;
/** 32-bit stereo at 192 kHz. It is silent and short, so that transcribing it takes little time. */
const recording = new Blob([
  new Uint8Array(wavHeader({ channels: 2, dataBytes, sampleRate: 192_000, bits: 32 })),
  new Uint8Array(dataBytes),
]);
let sent = 0;

/** Sends the recording with its metadata, each time with a new partner_call_id. */
async function post(url: string, headers: Record<string, string> = {}): Promise<void> {
  const body = new FormData();
  body.append('metadata', JSON.stringify(metadataOf('silence.wav', { partner_call_id: `silence-${sent++}` })));
  body.append('audio_file', recording, 'silence.wav');
  const response = await fetch(url, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`answered ${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}
