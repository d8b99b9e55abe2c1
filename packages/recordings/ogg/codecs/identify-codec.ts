import { concatChannels } from '../../codecs/channels.ts';
import { unreadable, unsupportedCodec, wrongContent } from '../../faults.ts';
import { frameHeader, STREAM_INFO_BYTES, streamInfo } from '../../flac/frame-header.ts';
import { readFrame } from '../../flac/frame.ts';
import { hasText } from '../../reading/bytes.ts';
import { opus } from './opus.ts';
import type { PacketCodec } from './packet-codec.ts';
import { vorbis } from './vorbis.ts';

/** The body of STREAMINFO follows the header of the mapping, `fLaC` and the block header. */
const STREAM_INFO_AT = 17;

/** FLAC in Ogg, one frame per packet (RFC 9639, section 10.1). */
function flacInOgg(head: Uint8Array): PacketCodec {
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

const SUPPORTED = [
  { signature: '\x01vorbis', open: vorbis },
  { signature: 'OpusHead', open: opus },
  { signature: '\x7fFLAC', open: flacInOgg },
];

/** Unsupported audio codecs, and streams without audio that may accompany audio. */
const OTHERS = [
  { signature: 'Speex   ', name: 'Speex' },
  { signature: 'CELT    ', name: 'CELT' },
  { signature: 'PCM     ', name: 'OggPCM' },
  { signature: 'OggMIDI\0', name: 'MIDI' },
  { signature: '\x80theora', name: 'Theora video' },
  { signature: 'BBCD\0', name: 'Dirac video' },
  { signature: '\x01video\0', name: 'OGM video' },
  { signature: '\x01audio\0', name: 'OGM audio' },
  { signature: '\x4fVP80', name: 'VP8 video' },
  { signature: '\x80kate\0', name: 'Kate subtitles' },
  { signature: 'CMML\0', name: 'CMML' },
  { signature: 'fishead\0', name: 'a skeleton' },
];

/** The codec of the stream that begins with this packet; null unless it is supported audio. */
export function identifyCodec(firstPacket: Uint8Array): PacketCodec | null {
  return SUPPORTED.find(({ signature }) => hasText(firstPacket, 0, signature))?.open(firstPacket) ?? null;
}

/** The fault for a file whose streams begin with these packets, none of them supported audio. */
export function unsupportedStreams(firstPackets: readonly Uint8Array[]): Error {
  if (firstPackets.length === 0) return unreadable('The beginning of the Ogg file is missing.');
  const names = OTHERS.filter(({ signature }) => firstPackets.some((packet) => hasText(packet, 0, signature)));
  return names.length === 0
    ? wrongContent('ogg', 'Ogg with an unknown codec')
    : unsupportedCodec('ogg', names.map(({ name }) => name).join(' and '), null);
}
