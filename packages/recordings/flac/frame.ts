import { Bits, OutOfBits, type Samples } from './bits.ts';
import { crc16 } from './checksums.ts';
import { type FrameHeader, frameHeader } from './frame-header.ts';
import type { StreamInfo } from './stream-info.ts';
import { readSubframe } from './subframe.ts';

export interface Frame {
  readonly header: FrameHeader;
  readonly sizeBytes: number;
  /** From -1 to 1. */
  readonly channels: readonly Float32Array[];
}

/** `short`: the bytes may be the beginning of a frame. `broken`: they cannot be a frame. */
type NoFrame = 'short' | 'broken';

/**
 * Decodes the frame that begins at `at`. This code exists because the maintained libraries do not do the job:
 * `@wasm-audio-decoders/flac` 0.2.11 returns infinities for samples of 12 and 20 bits and nothing for those of 32, does
 * not report damaged frames, and does not say where a frame ends, which finding the last frame of a file needs.
 */
export function readFrame(bytes: Uint8Array, at: number, info: StreamInfo): Frame | NoFrame {
  const header = frameHeader(bytes, at, info);
  if (header === null) return bytes.length - at < 16 ? 'short' : 'broken';
  if (header.channels !== info.channels || header.samples > info.maxBlockSamples) return 'broken';
  try {
    const bits = new Bits(bytes.subarray(at), header.sizeBytes);
    const coded: Samples[] = [];
    for (let channel = 0; channel < header.channels; channel++) {
      const width = header.bitsPerSample + (isSide(header, channel) ? 1 : 0);
      const samples = readSubframe(bits, width, header.samples);
      if (samples === null) return 'broken';
      coded.push(samples);
    }
    const end = at + bits.align();
    if (end + 2 > bytes.length) return 'short';
    if (crc16(bytes, at, end + 2) !== 0) return 'broken';
    uncouple(header, coded);
    const scale = 2 ** (1 - header.bitsPerSample);
    return { header, sizeBytes: end + 2 - at, channels: coded.map((samples) => scaled(samples, scale)) };
  } catch (error) {
    if (error instanceof OutOfBits) return 'short';
    throw error;
  }
}

function isSide({ coupling }: FrameHeader, channel: number): boolean {
  return coupling !== 'none' && channel === (coupling === 'side-right' ? 0 : 1);
}

/** Restores the two channels from their sum or difference. */
function uncouple({ coupling }: FrameHeader, [first, second]: readonly Samples[]): void {
  if (coupling === 'none' || first === undefined || second === undefined) return;
  for (let index = 0; index < first.length; index++) {
    const a = first[index] ?? 0;
    const b = second[index] ?? 0;
    if (coupling === 'left-side') {
      second[index] = a - b;
    } else if (coupling === 'side-right') {
      first[index] = a + b;
    } else {
      // The encoder drops the lowest bit of the sum because it equals that of the difference.
      const left = Math.floor((2 * a + (b & 1) + b) / 2);
      first[index] = left;
      second[index] = left - b;
    }
  }
}

function scaled(samples: Samples, scale: number): Float32Array {
  const out = new Float32Array(samples.length);
  for (let index = 0; index < out.length; index++) out[index] = (samples[index] ?? 0) * scale;
  return out;
}
