import { unreadable } from '../faults.ts';
import { joined } from '../flac/joined.ts';
import { SpeexDecoder } from '../speex/index.ts';
import type { Codec } from './codec.ts';

const EXTRA_HEADERS_AT = 68;

/**
 * Speex in Ogg ("The Speex Codec Manual", "Ogg file format"). The decoder's own delay of 5 ms is left in, as ffmpeg
 * does: a stream that was cut has nothing to make up for it at its end.
 */
export function speex(head: Uint8Array): Codec {
  if (head.length < 80) throw unreadable('The header of the Speex stream is cut off.');
  const decoder = new SpeexDecoder(head);
  const extra = new DataView(head.buffer, head.byteOffset, head.length).getUint32(EXTRA_HEADERS_AT, true);
  let headers = 1;
  return {
    name: 'speex',
    channels: decoder.channels,
    sampleRate: decoder.sampleRate,
    skip: 0,
    takeHeader: () => headers++ <= 1 + extra,
    samplesOf: () => decoder.samplesPerPacket,
    open: async () => ({
      decode: async (packets) =>
        joined(
          packets.map((packet) => decoder.decode(packet)),
          decoder.channels,
        ),
      close: () => {},
    }),
  };
}
