import { Fault } from '@call-analysis/fault';
import { expect } from '@jest/globals';
import type { Container, Samples, Source } from '../recording.ts';
import { sourceOfBytes } from '../source.ts';

export interface Heard {
  sampleRate: number;
  channels: number[][];
}

export async function gathered(samples: AsyncIterable<Samples>): Promise<Heard> {
  const heard: Heard = { sampleRate: 0, channels: [] };
  for await (const piece of samples) {
    heard.sampleRate = piece.sampleRate;
    for (const [index, channel] of piece.channels.entries()) {
      const into = (heard.channels[index] ??= []);
      for (const sample of channel) into.push(sample);
    }
  }
  return heard;
}

export function heardIn(container: Container, bytes: Uint8Array): Promise<Heard> {
  return gathered(container.decode(sourceOfBytes(bytes)));
}

/** Counts what is read, hands out odd pieces, and lets nobody read where there is nothing. */
export function watched(
  bytes: Uint8Array,
  pieceBytes = 4096,
): { source: Source; read: { bytes: number; times: number } } {
  const inner = sourceOfBytes(bytes);
  const read = { bytes: 0, times: 0 };
  const source: Source = {
    sizeBytes: bytes.length,
    read: (start, end) => {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeGreaterThanOrEqual(start);
      read.times++;
      read.bytes += Math.min(end, bytes.length) - start;
      return inner.read(start, end);
    },
    async *stream(start) {
      expect(start).toBeGreaterThanOrEqual(0);
      for (let at = start; at < bytes.length; at += pieceBytes) {
        const piece = bytes.subarray(at, at + pieceBytes);
        read.bytes += piece.length;
        yield piece;
      }
    },
  };
  return { source, read };
}

/** Milliseconds of processor time that the work takes, whatever else the machine is at meanwhile. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The code and message of the fault that a promise rejects with; anything else fails the test. */
export async function faultOf(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error('This did not end in a fault.', { cause: error });
  return { code: error.code, message: error.message };
}

/**
 * What every container promises of any bytes: a fault of two kinds, or an answer that decoding agrees with; the same
 * whatever the pieces are that the bytes come in; and no more read than 256 KiB to find it out.
 */
export async function keepsPromises(container: Container, bytes: Uint8Array, pieceBytes = 997): Promise<void> {
  const { source, read } = watched(bytes, pieceBytes);
  const probed = await container.probe(source).catch(refusal);
  expect(read.bytes).toBeLessThanOrEqual(256 * 1024);
  if (typeof probed === 'string') {
    expect(await gathered(container.decode(source)).catch(refusal)).toBe(probed);
    return;
  }
  expect(probed.frames).toBeGreaterThan(0);
  expect(probed.duration).toBe(probed.frames / probed.sampleRate);
  const heard = await gathered(container.decode(source)).catch(refusal);
  if (typeof heard === 'string') {
    // A block in the middle made no sense; only ADPCM has such.
    expect(probed.codec).toMatch(/^adpcm/);
    expect(heard).toBe('AUDIO_UNREADABLE');
    return;
  }
  expect(heard.sampleRate).toBe(probed.sampleRate);
  expect(heard.channels.map((each) => each.length)).toEqual(Array(probed.channels).fill(probed.frames));
  expect(heard.channels.every((each) => each.every((sample) => sample >= -1 && sample <= 1))).toBe(true);
}

function refusal(error: unknown): string {
  if (!(error instanceof Fault)) throw error;
  expect(error.kind).toBe('invalid');
  expect(['INVALID_FILE_FORMAT', 'AUDIO_UNREADABLE']).toContain(error.code);
  return error.code;
}
