import type { Codec } from './codec.ts';

/** ITU-T G.711, both laws: eight bits that stand for a sample of 13 or 14. */
export function alaw(channelCount: number): Codec {
  return companded('pcm_alaw', ALAW, channelCount);
}

export function mulaw(channelCount: number): Codec {
  return companded('pcm_mulaw', MULAW, channelCount);
}

const ALAW = Float32Array.from({ length: 256 }, (_, code) => expandAlaw(code) / 0x8000);
const MULAW = Float32Array.from({ length: 256 }, (_, code) => expandMulaw(code) / 0x8000);

function companded(name: string, table: Float32Array, channelCount: number): Codec {
  return {
    name,
    blockBytes: channelCount,
    framesPerBlock: 1,
    framesInPart: () => 0,
    decoder: () => (bytes, channels) => {
      for (const [channel, samples] of channels.entries()) {
        let at = channel;
        for (let i = 0; i < samples.length; i++, at += channelCount) samples[i] = table[bytes[at]!]!;
      }
    },
  };
}

/** Every other bit is inverted on the line. Sign, three bits of exponent, four of mantissa; the middle of each step. */
function expandAlaw(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
}

/** All bits are inverted on the line; the bias of 33 (here of 132, at 16 bits) makes the steps join. */
function expandMulaw(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 132) << ((bits >> 4) & 7)) - 132;
  return bits & 0x80 ? 0 - magnitude : magnitude;
}
