import type { BlockCodec } from './sample-data.ts';

/** ITU-T G.711 A-law: a sample of 13 bits in eight. */
export function alaw(channelCount: number): BlockCodec {
  return companded('pcm_alaw', ALAW, channelCount);
}

/** ITU-T G.711 mu-law: a sample of 14 bits in eight. */
export function mulaw(channelCount: number): BlockCodec {
  return companded('pcm_mulaw', MULAW, channelCount);
}

const ALAW = Float32Array.from({ length: 256 }, (_, code) => expandAlaw(code) / 0x8000);
const MULAW = Float32Array.from({ length: 256 }, (_, code) => expandMulaw(code) / 0x8000);

function companded(name: string, table: Float32Array, channelCount: number): BlockCodec {
  return {
    name,
    blockBytes: channelCount,
    framesPerBlock: 1,
    framesInPartialBlock: () => 0,
    decoder: () => (bytes, channels) => {
      for (const [channel, samples] of channels.entries()) {
        let offset = channel;
        for (let i = 0; i < samples.length; i++, offset += channelCount) samples[i] = table[bytes[offset]!]!;
      }
    },
  };
}

/**
 * Even bits are transmitted inverted. A code has a sign, three bits of exponent and four of mantissa; it decodes to the
 * middle of its interval.
 */
function expandAlaw(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
}

/** All bits are transmitted inverted. The bias is 33 at 14 bits, which is 132 at 16 bits. */
function expandMulaw(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 132) << ((bits >> 4) & 7)) - 132;
  return bits & 0x80 ? 0 - magnitude : magnitude;
}
