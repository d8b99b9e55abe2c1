import { unreadable } from '../faults.ts';
import type { BlockCodec } from './sample-data.ts';

/** The coefficients, in 256ths, that predict a sample from the last one and the one before it. */
export type Coefficients = readonly [last: number, before: number];

/**
 * The coefficients that every file's table begins with (Microsoft, "New Multimedia Data Types and Data Techniques").
 */
export const STANDARD_COEFFICIENTS: readonly Coefficients[] = [
  [256, 0],
  [512, -256],
  [0, 0],
  [192, 64],
  [240, 0],
  [460, -208],
  [392, -232],
];

/** The factors of the step size by code, in 256ths. */
const STEP_CHANGES = Uint16Array.from([230, 230, 230, 230, 307, 409, 512, 614, 768, 614, 512, 409, 307, 230, 230, 230]);
const SMALLEST_STEP = 16;
/** Keeps every product within 32 bits for any input. */
const LARGEST_STEP = Math.floor(0x7fff_ffff / 768);
const HEADER_BYTES = 7;

class Predictor {
  coefficients: Coefficients = [0, 0];
  step = 0;
  last = 0;
  before = 0;

  /** The next sample, from -1 to 1. */
  next(code: number): number {
    const [lastFactor, beforeFactor] = this.coefficients;
    const predicted = Math.trunc((this.last * lastFactor + this.before * beforeFactor) / 256);
    const signed = code & 8 ? code - 16 : code;
    const sample = Math.max(-0x8000, Math.min(0x7fff, predicted + signed * this.step));
    this.before = this.last;
    this.last = sample;
    this.step = Math.max(SMALLEST_STEP, Math.min(LARGEST_STEP, (STEP_CHANGES[code]! * this.step) >> 8));
    return sample / 0x8000;
  }
}

/**
 * WAV format tag 2. A block begins with the index of the coefficients, the step size, the second and the first sample
 * of each channel. The codes of the channels follow in turn, high nibble first. Null when a block of this size holds no
 * frame.
 */
export function msAdpcm(channelCount: 1 | 2, blockBytes: number, table: readonly Coefficients[]): BlockCodec | null {
  const header = HEADER_BYTES * channelCount;
  const framesInPartialBlock = (bytes: number): number =>
    bytes < header ? 0 : 2 + Math.floor(((bytes - header) * 2) / channelCount);
  const framesPerBlock = framesInPartialBlock(blockBytes);
  if (framesPerBlock === 0) return null;
  const begin = (predictor: Predictor, view: DataView, at: number, channel: number): void => {
    const coefficients = table[view.getUint8(at + channel)];
    if (!coefficients) throw unreadable('A block of MS ADPCM has an invalid predictor index.');
    const field = (index: number): number => view.getInt16(at + channelCount * (1 + 2 * index) + 2 * channel, true);
    predictor.coefficients = coefficients;
    predictor.step = field(0);
    predictor.last = field(1);
    predictor.before = field(2);
  };
  return {
    name: 'adpcm_ms',
    blockBytes,
    framesPerBlock,
    framesInPartialBlock,
    decoder: () => {
      const left = new Predictor();
      const right = channelCount === 2 ? new Predictor() : left;
      return (bytes, channels) => {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const onLeft = channels[0]!;
        const onRight = channels[1] ?? onLeft;
        for (let at = 0, frame = 0; at < bytes.length; at += blockBytes, frame += framesPerBlock) {
          const end = Math.min(at + blockBytes, bytes.length);
          if (framesInPartialBlock(end - at) === 0) continue;
          for (const [channel, predictor] of [left, right].slice(0, channelCount).entries()) {
            begin(predictor, view, at, channel);
            channels[channel]![frame] = predictor.before / 0x8000;
            channels[channel]![frame + 1] = predictor.last / 0x8000;
          }
          let i = frame + 2;
          for (let byte = at + header; byte < end; byte++) {
            const codes = bytes[byte]!;
            onLeft[i] = left.next(codes >> 4);
            if (channelCount === 1) i++;
            onRight[i++] = right.next(codes & 0x0f);
          }
        }
      };
    },
  };
}
