import { unreadable } from '../faults.ts';
import { frameHeader } from '../flac/frame-header.ts';
import { readFrame } from '../flac/frame.ts';
import { joined } from '../flac/joined.ts';
import { STREAM_INFO_BYTES, streamInfo } from '../flac/stream-info.ts';
import { says } from '../mp3/tags.ts';
import type { Codec } from './codec.ts';

/** Before the body of STREAMINFO come the mapping's own header, `fLaC` and the block's header. */
const INFO_AT = 17;

/** FLAC in Ogg, one frame in a packet (RFC 9639, section 10.1). */
export function flacInOgg(head: Uint8Array): Codec {
  if (!says(head, 9, 'fLaC')) throw unreadable('The header of the FLAC stream is broken.');
  const info = streamInfo(head.subarray(INFO_AT, INFO_AT + STREAM_INFO_BYTES));
  return {
    name: 'flac',
    channels: info.channels,
    sampleRate: info.sampleRate,
    skip: 0,
    takeHeader: (packet) => packet[0] !== 0xff,
    samplesOf: (packet) => frameHeader(packet, 0, info)?.samples ?? 0,
    open: async () => ({
      decode: async (packets) => {
        const frames = packets.map((packet) => {
          const frame = readFrame(packet, 0, info);
          if (typeof frame === 'string')
            throw unreadable('The FLAC stream is broken: a frame of it cannot be decoded.');
          return frame;
        });
        return joined(
          frames.map(({ channels }) => channels),
          info.channels,
        );
      },
      close: () => {},
    }),
  };
}
