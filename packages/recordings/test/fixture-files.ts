import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Fault } from '@call-analysis/fault';
import { expect } from '@jest/globals';
import type { Container, RecordingInfo, Source } from '../recording.ts';
import { sourceOfBytes } from '../source.ts';

export function fixture(path: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`./fixtures/${path}`, import.meta.url)));
}

/** A source that counts the bytes read from it. */
export function countingSource(source: Source): Source & { readBytes: number } {
  const counting = {
    sizeBytes: source.sizeBytes,
    readBytes: 0,
    async read(start: number, end: number) {
      const bytes = await source.read(start, end);
      counting.readBytes += bytes.length;
      return bytes;
    },
    async *stream(start: number) {
      for await (const piece of source.stream(start)) {
        counting.readBytes += piece.length;
        yield piece;
      }
    },
  };
  return counting;
}

/** A file too large for memory: zeros except for the given pieces at their offsets. */
export function sparseSource(sizeBytes: number, pieces: readonly { at: number; bytes: Uint8Array }[]): Source {
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    const out = new Uint8Array(Math.max(0, Math.min(end, sizeBytes) - start));
    for (const { at, bytes } of pieces) {
      const from = Math.max(at, start);
      const to = Math.min(at + bytes.length, start + out.length);
      if (from < to) out.set(bytes.subarray(from - at, to - at), from - start);
    }
    return out;
  };
  return {
    sizeBytes,
    read,
    async *stream(start) {
      for (let at = start; at < sizeBytes; at += 65_536) yield await read(at, at + 65_536);
    },
  };
}

/** The amplitude of a sine of this frequency in the samples. */
export function amplitudeOf(hertz: number, samples: readonly number[], sampleRate: number): number {
  let sine = 0;
  let cosine = 0;
  for (const [index, sample] of samples.entries()) {
    sine += sample * Math.sin((2 * Math.PI * hertz * index) / sampleRate);
    cosine += sample * Math.cos((2 * Math.PI * hertz * index) / sampleRate);
  }
  return (2 * Math.hypot(sine, cosine)) / samples.length;
}

interface Outcome {
  readonly info: RecordingInfo | null;
  /** Decoded samples per channel; null when decoding failed with a Fault. */
  readonly frames: number | null;
}

/** Probes and decodes arbitrary bytes and checks that each step gives a sane result or one of the two faults. */
export async function outcomeOf(container: Container, bytes: Uint8Array): Promise<Outcome> {
  const source = sourceOfBytes(bytes);
  const info = await container.probe(source).catch(refused);
  if (info !== null) {
    expect(info.channels).toBeGreaterThan(0);
    expect(info.sampleRate).toBeGreaterThan(0);
    expect(Number.isSafeInteger(info.frames)).toBe(true);
    expect(info.frames).toBeGreaterThan(0);
  }
  return { info, frames: await framesDecoded(container, source).catch(refused) };
}

async function framesDecoded(container: Container, source: Source): Promise<number> {
  let frames = 0;
  for await (const { channels } of container.decode(source)) {
    for (const channel of channels)
      if (channel.length !== channels[0]?.length) throw new Error('channels differ in length');
    frames += channels[0]?.length ?? 0;
  }
  return frames;
}

function refused(error: unknown): null {
  if (!(error instanceof Fault)) throw error;
  expect(['INVALID_FILE_FORMAT', 'AUDIO_UNREADABLE']).toContain(error.code);
  return null;
}

export function withFlippedBits(bytes: Uint8Array, bits: readonly number[]): Uint8Array {
  const out = bytes.slice();
  for (const bit of bits) {
    const at = Math.floor(bit / 8) % out.length;
    out[at] = (out[at] ?? 0) ^ (1 << (bit % 8));
  }
  return out;
}

/** A digest of the samples. Comparing digests is a thousand times as fast as comparing samples. */
export function digestOf(channels: readonly (readonly number[])[]): string {
  const hash = createHash('sha1');
  for (const channel of channels) hash.update(Float64Array.from(channel));
  return hash.digest('hex');
}
