import type { BlockCodec } from './sample-data.ts';

/** The encoding of one sample. An integer with fewer bits than its bytes is left-aligned. */
type PcmSample =
  | { readonly kind: 'unsigned'; readonly bytes: 1 }
  | { readonly kind: 'signed'; readonly bytes: 1 | 2 | 3 | 4; readonly littleEndian: boolean }
  | { readonly kind: 'float'; readonly bytes: 4 | 8; readonly littleEndian: boolean };

export function pcm(sample: PcmSample, channelCount: number): BlockCodec {
  const read = reader(sample);
  return {
    name: nameOf(sample),
    blockBytes: sample.bytes * channelCount,
    framesPerBlock: 1,
    framesInPartialBlock: () => 0,
    decoder: () => (bytes, channels) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const step = sample.bytes * channelCount;
      for (const [channel, samples] of channels.entries()) read(view, channel * sample.bytes, step, samples);
    },
  };
}

/** The number of bytes that a sample of `bits` bits takes; null when no format has such samples. */
export function bytesForBits(bits: number): 1 | 2 | 3 | 4 | null {
  const bytes = Math.ceil(bits / 8);
  return bytes === 1 || bytes === 2 || bytes === 3 || bytes === 4 ? bytes : null;
}

function nameOf(sample: PcmSample): string {
  const bits = sample.bytes * 8;
  if (sample.kind === 'unsigned') return 'pcm_u8';
  if (bits === 8) return 'pcm_s8';
  return `pcm_${sample.kind === 'float' ? 'f' : 's'}${bits}${sample.littleEndian ? 'le' : 'be'}`;
}

/** Reads the samples of one channel, which begin at `at` and are `step` bytes apart. */
type Read = (view: DataView, at: number, step: number, samples: Float32Array) => void;

/** One loop per encoding, because a function call per sample would cost more than the conversion. */
function reader(sample: PcmSample): Read {
  if (sample.kind === 'unsigned') {
    return (view, at, step, samples) => {
      for (let i = 0; i < samples.length; i++, at += step) samples[i] = (view.getUint8(at) - 128) / 128;
    };
  }
  const { bytes, littleEndian } = sample;
  switch (bytes) {
    case 1:
      return (view, at, step, samples) => {
        for (let i = 0; i < samples.length; i++, at += step) samples[i] = view.getInt8(at) / 128;
      };
    case 2:
      return (view, at, step, samples) => {
        for (let i = 0; i < samples.length; i++, at += step) samples[i] = view.getInt16(at, littleEndian) / 0x8000;
      };
    case 3: {
      const low = littleEndian ? 0 : 2;
      const high = 2 - low;
      return (view, at, step, samples) => {
        for (let i = 0; i < samples.length; i++, at += step) {
          const rest = (view.getUint8(at + 1) << 8) | view.getUint8(at + low);
          samples[i] = (view.getInt8(at + high) * 0x1_0000 + rest) / 0x80_0000;
        }
      };
    }
    case 4:
      if (sample.kind === 'signed') {
        return (view, at, step, samples) => {
          for (let i = 0; i < samples.length; i++, at += step)
            samples[i] = view.getInt32(at, littleEndian) / 0x8000_0000;
        };
      }
      return (view, at, step, samples) => {
        for (let i = 0; i < samples.length; i++, at += step) samples[i] = limited(view.getFloat32(at, littleEndian));
      };
    case 8:
      return (view, at, step, samples) => {
        for (let i = 0; i < samples.length; i++, at += step) samples[i] = limited(view.getFloat64(at, littleEndian));
      };
  }
}

/** A stored float may have any value: out-of-range values are limited, NaN becomes silence. */
function limited(value: number): number {
  if (value >= -1 && value <= 1) return value;
  return value > 1 ? 1 : value < -1 ? -1 : 0;
}
