import { notOfFormat, unreadable, unsupportedCodec } from '../faults.ts';
import { says } from '../mp3/tags.ts';
import { flacInOgg } from './flac.ts';
import { opus } from './opus.ts';
import { speex } from './speex.ts';
import { vorbis } from './vorbis.ts';

/** What a codec's packets mean. One object is for one stream, whose packets it sees in order. */
export interface Codec {
  /** As ffmpeg names it. */
  readonly name: string;
  readonly channels: number;
  /** Of what decoding gives, and of the granules. */
  readonly sampleRate: number;
  /** Samples at the beginning that decoders give and nobody recorded. */
  readonly skip: number;
  /** Takes a packet after the first; false when the headers are over and it is one of sound. */
  takeHeader(packet: Uint8Array): boolean;
  /** How many samples a packet of sound gives. */
  samplesOf(packet: Uint8Array): number;
  /** To be opened when the headers are over. */
  open(): Promise<PacketDecoder>;
}

export interface PacketDecoder {
  /** The samples of some packets, one array for each channel. AUDIO_UNREADABLE when one of them is broken. */
  decode(packets: readonly Uint8Array[]): Promise<Float32Array[]>;
  close(): void;
}

const CODECS = [
  { begins: '\x01vorbis', open: vorbis },
  { begins: 'OpusHead', open: opus },
  { begins: '\x7fFLAC', open: flacInOgg },
  { begins: 'Speex   ', open: speex },
];

/** Streams that go along with sound, and sound of kinds that are not supported. */
const OTHERS = [
  { begins: 'CELT    ', name: 'CELT' },
  { begins: 'PCM     ', name: 'OggPCM' },
  { begins: 'OggMIDI\0', name: 'MIDI' },
  { begins: '\x80theora', name: 'Theora video' },
  { begins: 'BBCD\0', name: 'Dirac video' },
  { begins: '\x01video\0', name: 'OGM video' },
  { begins: '\x01audio\0', name: 'OGM audio' },
  { begins: '\x4fVP80', name: 'VP8 video' },
  { begins: '\x80kate\0', name: 'Kate subtitles' },
  { begins: 'CMML\0', name: 'CMML' },
  { begins: 'fishead\0', name: 'a skeleton' },
];

/** The codec of a stream whose first packet this is; null when it is not one of supported sound. */
export function codecOf(firstPacket: Uint8Array): Codec | null {
  return CODECS.find(({ begins }) => says(firstPacket, 0, begins))?.open(firstPacket) ?? null;
}

/** For a file whose streams begin with these packets, none of them of supported sound. */
export function withoutSound(firstPackets: readonly Uint8Array[]): Error {
  if (firstPackets.length === 0) return unreadable('The beginning of the Ogg is missing.');
  const names = OTHERS.filter(({ begins }) => firstPackets.some((packet) => says(packet, 0, begins)));
  return names.length === 0
    ? notOfFormat('ogg', 'Ogg with an unknown codec')
    : unsupportedCodec('ogg', names.map(({ name }) => name).join(' and '));
}
