import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { wavHeader } from '@call-analysis/testing';
import { newFirm } from '../deploy/standalone/test/client.ts';
import { startService } from '../deploy/standalone/test/service-process.ts';
import { atLeast, atMost, median } from './figure.ts';
import type { Figure } from './figure.ts';
import { forgetPeak, peakMiB, residentMiB } from './memory.ts';

const MIB = 1024 ** 2;
const SAMPLES_BYTES = 50 * MIB - 44;
const BOUNDARY = 'one-recording';
const AT_ONCE = 16;

/**
 * One recording of 50 MiB in a form, from the first byte sent to the answer: parsed, hashed, stored, probed, registered.
 * Beside it multer taking the same body to disk. Both servers are processes of their own on loopback.
 */
export async function run({ quick }: { quick: boolean }): Promise<Figure[]> {
  const rounds = quick ? 3 : 12;
  const multer = fork(fileURLToPath(new URL('./multer-server.ts', import.meta.url)));
  const [port] = (await once(multer, 'message')) as [number];
  const service = await startService();
  try {
    const { token } = await newFirm(service);
    const ours = () => post(`${service.url}/api/v1/audio/upload`, form(), { authorization: `Bearer ${token}` });
    const theirs = () => post(`http://127.0.0.1:${port}/`, form());
    await ours();
    await theirs();
    await pause(2000);
    const before = residentMiB(service.pid);
    forgetPeak(service.pid);
    await Promise.all(Array.from({ length: AT_ONCE }, ours));
    const rise = peakMiB(service.pid) - before;
    await pause(quick ? 3000 : 15_000);
    const rates = { ours: [] as number[], theirs: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.theirs.push(await rate(theirs));
      rates.ours.push(await rate(ours));
      // What was sent is being heard meanwhile.
      await pause(quick ? 1000 : 3000);
    }
    const theirRate = median(rates.theirs);
    return [
      atLeast(1, { name: 'upload of 50 MiB, probed, hashed, registered', value: median(rates.ours), unit: 'MiB/s', yardstick: { name: 'multer, MiB/s', value: theirRate } }),
      atMost(1, { name: `memory that ${AT_ONCE} such uploads at once add to the service`, value: rise, unit: 'MiB', yardstick: { name: 'limit, MiB', value: 150 } }),
    ];
  } finally {
    multer.disconnect();
    await service.stop();
  }
}

async function rate(upload: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await upload();
  return SAMPLES_BYTES / MIB / ((performance.now() - started) / 1000);
}

const samples = Buffer.alloc(SAMPLES_BYTES);
let sent = 0;

/**
 * A WAV of 32-bit stereo, 192 kHz, in a form with its metadata; each under an id of its own. It says nothing and is short,
 * so that hearing it, which begins at once, takes little from what is measured.
 */
function form(): Buffer[] {
  const metadata = JSON.stringify({
    audio_file_name: 'silence.wav',
    client_phone_number: '+998901234567',
    operator_name: 'Ann',
    start_time: '2026-10-01T09:00:00Z',
    segment_type: 'support',
    left_channel: 'operator',
    right_channel: 'client',
    partner_call_id: `silence-${sent++}`,
  });
  const part = (name: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`;
  return [
    Buffer.from(`${part('metadata')}\r\n\r\n${metadata}\r\n${part('audio_file')}; filename="silence.wav"\r\nContent-Type: audio/wav\r\n\r\n`),
    wavHeader({ channels: 2, dataBytes: SAMPLES_BYTES, sampleRate: 192_000, bits: 32 }),
    samples,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ];
}

async function post(url: string, body: readonly Buffer[], headers: Record<string, string> = {}): Promise<void> {
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const sending = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'content-length': length },
  });
  const answered = once(sending, 'response');
  for (const piece of body) sending.write(piece);
  sending.end();
  const [response] = (await answered) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}: ${text}`);
}
