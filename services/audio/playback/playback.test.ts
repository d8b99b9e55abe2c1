import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { CallErased } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { waitUntil } from '@call-analysis/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { WaveFile as WaveFileType } from 'wavefile';
import { playableKey, playbackMarkerKey, removeRecording } from '../recordings/recording-objects.ts';
import { sweep } from '../sweep-uploads.ts';
import { AudioUnderTest } from '../test/audio-under-test.ts';
import { firmUuid } from '../test/recordings.ts';
import { Playbacks } from './read-playback.ts';
import { Peaks } from './waveform.ts';

// Node finds no named exports in wavefile's CommonJS build.
const { WaveFile } = createRequire(import.meta.url)('wavefile') as { WaveFile: typeof WaveFileType };

const service = new AudioUnderTest();
const RATE = 8000;

beforeEach(() => {
  service.reset();
  service.catalogue.findCalls = async ({ call_uuids }) => ({ call_uuids });
});

/** A second of silence on the left, then a second of a tone; the other way round on the right. */
function tones(): [Int16Array, Int16Array] {
  const tone = Int16Array.from({ length: RATE }, (_, at) => Math.round(Math.sin(at / 3) * 16_384));
  const silence = new Int16Array(RATE);
  const join = (...parts: Int16Array[]) => Int16Array.from(parts.flatMap((part) => [...part]));
  return [join(silence, tone), join(tone, silence)];
}

function wav(): Buffer {
  const file = new WaveFile();
  file.fromScratch(2, RATE, '16', tones());
  return Buffer.from(file.toBuffer());
}

/** WAV of IMA ADPCM: wavefile compresses each channel, and a stereo block alternates their words of 4 bytes. */
function adpcm(): Buffer {
  const [left, right] = tones().map((samples) => {
    const mono = new WaveFile();
    mono.fromScratch(1, RATE, '16', samples);
    mono.toIMAADPCM();
    return Buffer.from((mono as unknown as { data: { samples: Uint8Array } }).data.samples);
  });
  const data = Buffer.alloc(left!.length * 2);
  for (let at = 0; at < left!.length; at += 4) {
    left!.copy(data, at * 2, at, at + 4);
    right!.copy(data, at * 2 + 4, at, at + 4);
  }
  const header = Buffer.alloc(48);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(40 + data.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(20, 16);
  header.writeUInt16LE(0x11, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(8110, 28);
  header.writeUInt16LE(512, 32);
  header.writeUInt16LE(4, 34);
  header.writeUInt16LE(2, 36);
  header.writeUInt16LE(505, 38);
  header.write('data', 40, 'latin1');
  header.writeUInt32LE(data.length, 44);
  return Buffer.concat([header, data]);
}

/** AIFF of 16-bit PCM, written by hand: FORM, COMM, SSND. */
function aiff(): Buffer {
  const [left, right] = tones();
  const comm = Buffer.alloc(26);
  comm.write('COMM', 'latin1');
  comm.writeUInt32BE(18, 4);
  comm.writeUInt16BE(2, 8);
  comm.writeUInt32BE(left.length, 10);
  comm.writeUInt16BE(16, 14);
  // 8000 as an 80-bit float: exponent 16383 + 12, mantissa 8000 << 51.
  comm.writeUInt16BE(16_383 + 12, 16);
  comm.writeUInt32BE(0xfa_00_00_00, 18);
  const data = Buffer.alloc(16 + left.length * 4);
  data.write('SSND', 'latin1');
  data.writeUInt32BE(8 + left.length * 4, 4);
  for (let at = 0; at < left.length; at++) {
    data.writeInt16BE(left[at]!, 16 + at * 4);
    data.writeInt16BE(right[at]!, 18 + at * 4);
  }
  const form = Buffer.alloc(12);
  form.write('FORM', 'latin1');
  form.writeUInt32BE(4 + comm.length + data.length, 4);
  form.write('AIFF', 8, 'latin1');
  return Buffer.concat([form, comm, data]);
}

async function recorded(bytes: Buffer, format: string): Promise<string> {
  const call = randomUUID();
  await service.objects.put(`recordings/${firmUuid}/${call}.${format}`, Readable.from([bytes]));
  return call;
}

const stored = async (call: string) => {
  const keys: string[] = [];
  for await (const { key } of service.objects.list(`playback/${firmUuid}/`)) if (key.includes(call)) keys.push(key);
  return keys.map((key) => key.slice(key.lastIndexOf('.'))).sort();
};

describe('a recording that is to be played', () => {
  it('has peaks of both channels, and is not copied when browsers play it', async () => {
    const call = await recorded(wav(), 'wav');
    const { format, converted, duration, peaks_per_second, left, right, url } = await service.playback(call);
    expect({ format, converted, duration, peaks_per_second }).toEqual({
      format: 'wav',
      converted: false,
      duration: 2,
      peaks_per_second: 20,
    });
    expect([...left].slice(0, 20)).toEqual(Array(20).fill(0));
    expect([...left].slice(20)).toEqual(Array(20).fill(50));
    expect([...right]).toEqual([...left].toReversed());
    expect(url).toContain(`recordings/${firmUuid}/${call}.wav`);
    expect(await stored(call)).toEqual(['.json']);
  });

  it.each([
    ['AIFF', aiff(), 'aiff'],
    ['ADPCM', adpcm(), 'wav'],
  ])('is copied as PCM in WAV when it is %s, once', async (_name, bytes, format) => {
    const call = await recorded(bytes, format);
    const answers = await Promise.all([service.playback(call), service.playback(call)]);
    for (const answer of answers) expect(answer).toMatchObject({ format: 'wav', converted: true });
    expect(await stored(call)).toEqual(['.json', '.wav']);
    const copy = new WaveFile(await buffer(await service.objects.open(`playback/${firmUuid}/${call}.wav`)));
    expect(copy.fmt).toMatchObject({ audioFormat: 1, numChannels: 2, sampleRate: RATE, bitsPerSample: 16 });
    const [left] = copy.getSamples(false, Int16Array) as unknown as Int16Array[];
    const [expected] = tones();
    // ADPCM pads its last block. That its decoder is right is tested in packages/recordings.
    expect(left!.length).toBeGreaterThanOrEqual(expected.length);
    if (format !== 'aiff') return;
    const error = expected.reduce((sum, value, at) => sum + Math.abs(value - left![at]!), 0) / expected.length;
    expect(error).toBeLessThan(1);
  });

  it('is not found for a call of another firm, and for one without a recording', async () => {
    const call = await recorded(wav(), 'wav');
    for (const unknown of [randomUUID(), '11111111-1111-1111-1111-111111111111'])
      await expect(service.playback(unknown)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    service.catalogue.findCalls = async () => ({ call_uuids: [] });
    await expect(service.playback(call)).rejects.toBeInstanceOf(Fault);
    expect(await stored(call)).toEqual([]);
  });

  it('leaves nothing when its call is erased before or while it is prepared', async () => {
    const call = await recorded(aiff(), 'aiff');
    await service.playback(call);
    const time = new Date().toISOString();
    const event = { id: randomUUID(), source: 'test', type: CallErased.type, time, subject: call, firmuuid: firmUuid };
    await service.publish({ ...event, priority: 0, data: { erased_at: time } });
    await waitUntil(async () => (await stored(call)).length === 0);

    const other = await recorded(aiff(), 'aiff');
    let asked = 0;
    service.catalogue.findCalls = async ({ call_uuids }) => ({ call_uuids: asked++ === 0 ? call_uuids : [] });
    await expect(service.playback(other)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await stored(other)).toEqual([]);
    expect((await service.stored()).filter((key) => key.includes('.playback'))).toEqual([]);
  });
});

describe('nothing is left to be played of a recording that retention removes', () => {
  /** An object store that runs something before a method is called with a key. */
  function before(method: 'put' | 'remove', matches: (key: string) => boolean, run: () => Promise<unknown>): Objects {
    let isDone = false;
    return new Proxy(service.objects, {
      get(target, name) {
        const original: unknown = Reflect.get(target, name);
        if (typeof original !== 'function') return original;
        return async (key: string, ...rest: unknown[]): Promise<unknown> => {
          if (name !== method || isDone || !matches(key)) return original.call(target, key, ...rest) as unknown;
          isDone = true;
          const given = rest[0] instanceof Readable ? [Readable.from([await buffer(rest[0])])] : rest;
          await run();
          return original.call(target, key, ...given) as unknown;
        };
      },
    });
  }

  const everythingOf = async (call: string) => [
    ...(await stored(call)),
    ...(await service.stored()).filter((key) => key.includes(call)),
  ];

  const ingest = {
    findCalls: async (request: { call_uuids?: string[] }) => ({ call_uuids: request.call_uuids ?? [] }),
  };
  const playback = (call: string, objects: Objects) => new Playbacks({ objects, ingest }).read(firmUuid, call);

  it.each(['wav', 'json'])('while its %s is being stored', async (kind) => {
    const call = await recorded(aiff(), 'aiff');
    const objects = before(
      'put',
      (key) => key.startsWith('playback/') && key.endsWith(kind),
      () => removeRecording(service.objects, { firmuuid: firmUuid, subject: call }),
    );
    await expect(playback(call, objects)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await everythingOf(call)).toEqual([]);
  });

  it('while it is being removed', async () => {
    const call = await recorded(aiff(), 'aiff');
    const objects = before(
      'remove',
      (key) => key === `recordings/${firmUuid}/${call}.aiff`,
      () => playback(call, service.objects),
    );
    await removeRecording(objects, { firmuuid: firmUuid, subject: call });
    expect(await everythingOf(call)).toEqual([]);
  });

  it('while a process is making it that then dies', async () => {
    const call = await recorded(aiff(), 'aiff');
    await removeRecording(service.objects, { firmuuid: firmUuid, subject: call });
    for (const key of [playbackMarkerKey(firmUuid, call), playableKey(firmUuid, call)])
      await service.objects.put(key, Readable.from(['what the process still stored']));
    await sweep({ db: service.db, objects: service.objects, ingest, claimDays: 30 }, 0, new Date(Date.now() + 60_000));
    expect(await everythingOf(call)).toEqual([]);
  });
});

it('an hour has no more peaks than a screen can show', () => {
  const peaks = new Peaks({ sampleRate: 100, channels: 2, duration: 3600 });
  const second = new Float32Array(100).fill(0.5);
  for (let at = 0; at < 3600; at++) peaks.add({ sampleRate: 100, channels: [second, second] });
  const { duration, peaksPerSecond, channels } = peaks.end();
  expect(duration).toBe(3600);
  expect(channels[0]!.length).toBeLessThanOrEqual(4_100);
  expect(channels[0]!.length / peaksPerSecond).toBeCloseTo(3600, 0);
});
