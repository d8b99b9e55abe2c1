import { concatChannels } from '../../codecs/concat-channels.ts';
import { unreadable } from '../../faults.ts';
import { frameHeader } from '../../flac/frame-header.ts';
import { readFrame } from '../../flac/frame.ts';
import { STREAM_INFO_BYTES, streamInfo } from '../../flac/stream-info.ts';
import { hasText } from '../../reading/bytes.ts';
import type { PacketCodec } from './packet-codec.ts';

/** The body of STREAMINFO follows the header of the mapping, `fLaC` and the block header. */
const STREAM_INFO_AT = 17;

/** FLAC in Ogg, one frame per packet (RFC 9639, section 10.1). */
export function flacInOgg(head: Uint8Array): PacketCodec {
  if (!hasText(head, 9, 'fLaC')) throw unreadable('The header of the FLAC stream is damaged.');
  const info = streamInfo(head.subarray(STREAM_INFO_AT, STREAM_INFO_AT + STREAM_INFO_BYTES));
  const decodePacket = (packet: Uint8Array): readonly Float32Array[] => {
    const frame = readFrame(packet, 0, info);
    if (typeof frame === 'string') throw unreadable('The FLAC stream is damaged: a frame of it cannot be decoded.');
    return frame.channels;
  };
  return {
    name: 'flac',
    channels: info.channels,
    sampleRate: info.sampleRate,
    skip: 0,
    takeHeader: (packet) => packet[0] !== 0xff,
    samplesOf: (packet) => frameHeader(packet, 0, info)?.samples ?? 0,
    open: async () => ({
      decode: async (packets) => concatChannels(packets.map(decodePacket), info.channels),
      close: () => {},
    }),
  };
}
