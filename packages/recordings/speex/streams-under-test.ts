import { readFileSync } from 'node:fs';
import { SpeexDecoder } from './decoder.ts';

export const FIXTURES = new URL('../fixtures/speex/', import.meta.url);

export function readFixture(name: string): Uint8Array {
  return readFileSync(new URL(name, FIXTURES));
}

/** The packets of a file of one Ogg stream, its checksums believed. */
export function packetsOf(ogg: Uint8Array): Uint8Array[] {
  const packets: Uint8Array[] = [];
  let pieces: Uint8Array[] = [];
  for (let page = 0; page < ogg.length;) {
    const lengths = ogg.subarray(page + 27, page + 27 + ogg[page + 26]!);
    page += 27 + lengths.length;
    for (const length of lengths) {
      pieces.push(ogg.subarray(page, page + length));
      page += length;
      if (length === 255) continue;
      packets.push(Buffer.concat(pieces));
      pieces = [];
    }
  }
  return packets;
}

/** A header as encoders write it, with what a test wants otherwise. */
export function headerOf(
  fields: { rate?: number; mode?: number; version?: number; channels?: number; framesPerPacket?: number } = {},
): Buffer {
  const header = Buffer.alloc(80);
  header.write('Speex   1.2.1', 'latin1');
  const { rate = 8000, mode = 0, version = 4, channels = 1, framesPerPacket = 1 } = fields;
  for (const [offset, value] of [
    [28, 1],
    [32, 80],
    [36, rate],
    [40, mode],
    [44, version],
    [48, channels],
    [52, -1],
    [56, 160 << mode],
    [64, framesPerPacket],
  ] as const) {
    header.writeInt32LE(value, offset);
  }
  return header;
}

/** Bits as text, blanks ignored, in bytes; what is left of the last is filled as encoders do: 0, then 1s. */
export function packetOf(...bits: string[]): Uint8Array {
  const text = bits.join('').replaceAll(/\s/gu, '');
  const fill = text.length % 8 === 0 ? '' : '0'.padEnd(8 - (text.length % 8), '1');
  return Uint8Array.from((text + fill).match(/.{8}/gu) ?? [], (byte) => Number.parseInt(byte, 2));
}

/** The sound of a whole stream at the scale of 16 bits, channels interleaved as in a file of PCM. */
export function decodeStream(ogg: Uint8Array): { channels: number; samples: Float64Array } {
  const [header, , ...packets] = packetsOf(ogg);
  const decoder = new SpeexDecoder(header!);
  const samples: number[] = [];
  for (const packet of packets.slice(decoder.extraHeaders)) {
    const planes = decoder.decode(packet);
    for (let i = 0; i < planes[0]!.length; i += 1) for (const plane of planes) samples.push(plane[i]! * 32_768);
  }
  return { channels: decoder.channels, samples: Float64Array.from(samples) };
}

export function pcm16(bytes: Uint8Array): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float64Array.from({ length: bytes.length >> 1 }, (_, i) => view.getInt16(2 * i, true));
}

/** Decibels of the expected signal over its difference to the actual, and the largest difference. */
export function compare(actual: Float64Array, expected: Float64Array): { decibels: number; largest: number } {
  let signal = 0;
  let noise = 0;
  let largest = 0;
  for (let i = 0; i < expected.length; i += 1) {
    const difference = Math.abs(actual[i]! - expected[i]!);
    signal += expected[i]! ** 2;
    noise += difference ** 2;
    largest = Math.max(largest, difference);
  }
  return { decibels: 10 * Math.log10(signal / noise), largest };
}
