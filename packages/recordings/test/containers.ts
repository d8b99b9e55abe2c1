import { Fault } from '@call-analysis/fault';
import { expect } from '@jest/globals';
import type { Container, Samples, Source } from '../recording.ts';
import { sourceOfBytes } from '../source.ts';

interface Decoded {
  sampleRate: number;
  channels: number[][];
}

export async function collect(samples: AsyncIterable<Samples>): Promise<Decoded> {
  const decoded: Decoded = { sampleRate: 0, channels: [] };
  for await (const piece of samples) {
    decoded.sampleRate = piece.sampleRate;
    for (const [index, channel] of piece.channels.entries()) {
      const into = (decoded.channels[index] ??= []);
      for (const sample of channel) into.push(sample);
    }
  }
  return decoded;
}

export function decodeAll(container: Container, bytes: Uint8Array): Promise<Decoded> {
  return collect(container.decode(sourceOfBytes(bytes)));
}

/** A source that counts reads, streams pieces of an unusual size, and fails the test on a read of an invalid range. */
export function watchedSource(
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

/** The code and message of the fault that a promise rejects with; anything else fails the test. */
export async function faultOf(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error('The promise did not reject with a Fault.', { cause: error });
  return { code: error.code, message: error.message };
}

/**
 * The contract of every container for arbitrary bytes: probing fails with one of two codes, or its result agrees with
 * decoding; the size of the streamed pieces does not matter; probing reads at most 256 KiB.
 */
export async function expectContainerContract(
  container: Container,
  bytes: Uint8Array,
  pieceBytes = 997,
): Promise<void> {
  const { source, read } = watchedSource(bytes, pieceBytes);
  const probed = await container.probe(source).catch(refusal);
  expect(read.bytes).toBeLessThanOrEqual(256 * 1024);
  if (typeof probed === 'string') {
    expect(await collect(container.decode(source)).catch(refusal)).toBe(probed);
    return;
  }
  expect(probed.frames).toBeGreaterThan(0);
  expect(probed.duration).toBe(probed.frames / probed.sampleRate);
  const decoded = await collect(container.decode(source)).catch(refusal);
  if (typeof decoded === 'string') {
    // Only ADPCM has blocks that can be invalid.
    expect(probed.codec).toMatch(/^adpcm/);
    expect(decoded).toBe('AUDIO_UNREADABLE');
    return;
  }
  expect(decoded.sampleRate).toBe(probed.sampleRate);
  expect(decoded.channels.map((each) => each.length)).toEqual(Array(probed.channels).fill(probed.frames));
  expect(decoded.channels.every((each) => each.every((sample) => sample >= -1 && sample <= 1))).toBe(true);
}

function refusal(error: unknown): string {
  if (!(error instanceof Fault)) throw error;
  expect(error.kind).toBe('invalid');
  expect(['INVALID_FILE_FORMAT', 'AUDIO_UNREADABLE']).toContain(error.code);
  return error.code;
}
