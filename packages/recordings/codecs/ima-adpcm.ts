import { unreadable } from '../faults.ts';
import type { BlockCodec } from './sample-data.ts';

/** The step sizes (IMA, "Recommended Practices for Enhancing Digital Audio Compatibility"). */
const STEPS = Uint16Array.from([
  7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118,
  130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060,
  1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484,
  7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
]);
const LAST_STEP = STEPS.length - 1;
const STEP_CHANGES = Int8Array.from([-1, -1, -1, -1, 2, 4, 6, 8, -1, -1, -1, -1, 2, 4, 6, 8]);

class Predictor {
  sample = 0;
  step = 0;

  set(sample: number, step: number): void {
    if (step > LAST_STEP) throw unreadable('A block of IMA ADPCM has an invalid step index.');
    this.sample = sample;
    this.step = step;
  }

  /** The next sample, from -1 to 1. */
  next(code: number): number {
    const step = STEPS[this.step]!;
    let difference = step >> 3;
    if (code & 4) difference += step;
    if (code & 2) difference += step >> 1;
    if (code & 1) difference += step >> 2;
    const sample = code & 8 ? this.sample - difference : this.sample + difference;
    this.sample = Math.max(-0x8000, Math.min(0x7fff, sample));
    this.step = Math.max(0, Math.min(LAST_STEP, this.step + STEP_CHANGES[code]!));
    return this.sample / 0x8000;
  }
}

/**
 * The layout of WAV (format tag 0x11). A block begins with a sample and a step index per channel. Groups of four bytes
 * follow, one per channel in turn, low nibble first. Null when a block of this size holds no frame.
 */
export function imaWav(channelCount: number, blockBytes: number): BlockCodec | null {
  const group = 4 * channelCount;
  const framesInPartialBlock = (bytes: number): number => (bytes < group ? 0 : 1 + 8 * (Math.floor(bytes / group) - 1));
  const framesPerBlock = framesInPartialBlock(blockBytes);
  if (framesPerBlock === 0) return null;
  return {
    name: 'adpcm_ima_wav',
    blockBytes,
    framesPerBlock,
    framesInPartialBlock,
    decoder: () => {
      const predictor = new Predictor();
      return (bytes, channels) => {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        for (let at = 0, frame = 0; at < bytes.length; at += blockBytes, frame += framesPerBlock) {
          const frames = framesInPartialBlock(Math.min(blockBytes, bytes.length - at));
          for (const [channel, samples] of channels.entries()) {
            if (frames === 0) continue;
            let byte = at + 4 * channel;
            predictor.set(view.getInt16(byte, true), view.getUint8(byte + 2));
            samples[frame] = predictor.sample / 0x8000;
            for (let i = frame + 1; i < frame + frames; i += 8) {
              byte += group;
              for (let pair = 0; pair < 4; pair++) {
                const codes = bytes[byte + pair]!;
                samples[i + 2 * pair] = predictor.next(codes & 0x0f);
                samples[i + 2 * pair + 1] = predictor.next(codes >> 4);
              }
            }
          }
        }
      };
    },
  };
}

const QUICKTIME_BYTES = 34;
const QUICKTIME_FRAMES = 64;
/** A packet's header stores the upper nine bits of the sample; the lower seven hold the step index. */
const QUICKTIME_STEP_MASK = 0x7f;

/**
 * The layout of AIFF-C (`ima4`): packets of 64 samples, one packet per channel in turn, low nibble first. The header of
 * a packet repeats, rounded, the last sample of the packet before. Where both agree, the unrounded sample is kept.
 */
export function imaQuickTime(channelCount: number): BlockCodec {
  const blockBytes = QUICKTIME_BYTES * channelCount;
  return {
    name: 'adpcm_ima_qt',
    blockBytes,
    framesPerBlock: QUICKTIME_FRAMES,
    framesInPartialBlock: () => 0,
    decoder: () => {
      const predictors = Array.from({ length: channelCount }, () => new Predictor());
      return (bytes, channels) => {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        for (let at = 0, frame = 0; at + blockBytes <= bytes.length; at += blockBytes, frame += QUICKTIME_FRAMES) {
          for (const [channel, samples] of channels.entries()) {
            const byte = at + QUICKTIME_BYTES * channel;
            const predictor = predictors[channel]!;
            const header = view.getInt16(byte, false);
            const sample = header & ~QUICKTIME_STEP_MASK;
            const step = header & QUICKTIME_STEP_MASK;
            const continues = predictor.step === step && Math.abs(predictor.sample - sample) <= QUICKTIME_STEP_MASK;
            if (!continues) predictor.set(sample, step);
            for (let pair = 0; pair < QUICKTIME_FRAMES / 2; pair++) {
              const codes = bytes[byte + 2 + pair]!;
              samples[frame + 2 * pair] = predictor.next(codes & 0x0f);
              samples[frame + 2 * pair + 1] = predictor.next(codes >> 4);
            }
          }
        }
      };
    },
  };
}
