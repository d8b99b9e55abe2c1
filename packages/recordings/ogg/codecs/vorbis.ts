import { OggVorbisDecoder } from '@wasm-audio-decoders/ogg-vorbis';
import { unreadable } from '../../faults.ts';
import { hasText } from '../../reading/bytes.ts';
import { libraryDecoder, type PacketCodec, type PacketDecoder } from './packet-codec.ts';

type LibraryPage = Parameters<OggVorbisDecoder['decodeOggPages']>[0][number];

/** The library does not accept a larger packet. */
const MAX_PACKET_BYTES = 131_072;

/** Vorbis (the "Vorbis I specification", sections 4.2 and 4.3). */
export function vorbis(head: Uint8Array): PacketCodec {
  if (head.length < 30) throw unreadable('The header of the Vorbis stream is cut off.');
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const channels = view.getUint8(11);
  const sampleRate = view.getUint32(12, true);
  const sizes = view.getUint8(28);
  const blockSamples = { short: 2 ** (sizes & 15), long: 2 ** (sizes >> 4) };
  const saneBlocks = blockSamples.short >= 64 && blockSamples.long <= 8192 && blockSamples.short <= blockSamples.long;
  if (view.getUint32(7, true) !== 0 || channels === 0 || sampleRate === 0 || !saneBlocks) {
    throw unreadable('The header of the Vorbis stream contradicts itself.');
  }
  let headers = 1;
  let setup: Uint8Array | null = null;
  let modes: Modes = { bits: 0, isLong: [] };
  let before = 0;
  return {
    name: 'vorbis',
    channels,
    sampleRate,
    skip: 0,
    takeHeader(packet) {
      headers++;
      if (headers === 3) {
        if (!hasText(packet, 0, '\x05vorbis') || packet.length > MAX_PACKET_BYTES) throw brokenSetup();
        setup = packet;
        modes = modesOf(packet);
      }
      return headers <= 3;
    },
    samplesOf(packet) {
      const first = packet[0] ?? 0;
      if (!isAudio(packet)) return 0;
      const mode = (first >> 1) & ((1 << modes.bits) - 1);
      const block = modes.isLong[mode] === true ? blockSamples.long : blockSamples.short;
      const samples = before === 0 ? 0 : (before + block) / 4;
      before = block;
      return samples;
    },
    open() {
      if (setup === null) throw brokenSetup();
      return open(head, setup);
    },
  };
}

/** Decoders ignore packets that are not marked as audio. */
function isAudio(packet: Uint8Array): boolean {
  return ((packet[0] ?? 1) & 1) === 0;
}

function brokenSetup(): Error {
  return unreadable('The header of the Vorbis stream is damaged.');
}

/** `bits`: how many bits in a packet select its mode. */
type Modes = ReturnType<typeof modesOf>;

/**
 * Reads the list of modes backwards from the end of the setup packet, because everything before it can be parsed only by
 * a decoder. A mode is a flag, two fields of 16 bits that are always zero, and the number of a mapping. The number of
 * modes, less one, precedes them in six bits.
 */
function modesOf(setup: Uint8Array) {
  const bit = (at: number): number => ((setup[at >> 3] ?? 0) >> (at & 7)) & 1;
  const field = (at: number, width: number): number => {
    let value = 0;
    for (let index = 0; index < width; index++) value |= bit(at + index) << index;
    return value;
  };
  let end = setup.length * 8 - 1;
  while (end > 0 && bit(end) === 0) end--;

  const flags: boolean[] = [];
  let count = 0;
  while (flags.length < 64 && end > 97) {
    if (field(end - 8, 8) > 63 || field(end - 24, 16) !== 0 || field(end - 40, 16) !== 0) break;
    flags.unshift(bit(end - 41) === 1);
    end -= 41;
    if (field(end - 6, 6) + 1 === flags.length) count = flags.length;
  }
  if (count === 0) throw brokenSetup();
  return { bits: 32 - Math.clz32(count - 1), isLong: flags.slice(flags.length - count) };
}

/**
 * The library decodes pages as reported by its own parser. That parser silently skips damaged pages and loses the end of
 * a cut-off file, so the packets are passed to the decoder in the parser's page format instead.
 */
async function open(head: Uint8Array, setup: Uint8Array): Promise<PacketDecoder> {
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  await decoder.decodeOggPages([libraryPage(head, [], setup)]);
  return libraryDecoder('Vorbis', {
    async decode(packets) {
      const small = packets.every(({ length }) => length <= MAX_PACKET_BYTES);
      if (!small) throw unreadable('The Vorbis stream is damaged: a packet is too large.');
      return decoder.decodeOggPages([libraryPage(new Uint8Array(1), packets.filter(isAudio), setup)]);
    },
    close: () => decoder.free(),
  });
}

function libraryPage(data: Uint8Array, packets: readonly Uint8Array[], vorbisSetup: Uint8Array): LibraryPage {
  const codecFrames = packets.map((packet) => ({ data: packet, header: { vorbisSetup } }));
  return { data, codecFrames, isLastPage: false } as unknown as LibraryPage;
}
