import { alaw, mulaw } from '../codecs/g711.ts';
import { imaWav } from '../codecs/ima-adpcm.ts';
import { type Coefficients, msAdpcm, STANDARD_COEFFICIENTS } from '../codecs/ms-adpcm.ts';
import { bytesForBits, pcm } from '../codecs/pcm.ts';
import { type BlockCodec, checkChannelsAndRate } from '../codecs/sample-data.ts';
import { unreadable, unsupportedCodec } from '../faults.ts';

/** The content of the `fmt ` chunk. */
export type WavFormat = ReturnType<typeof readFormat>;

const TAG = { pcm: 1, msAdpcm: 2, float: 3, alaw: 6, mulaw: 7, imaAdpcm: 0x11, mp3: 0x55, extensible: 0xfffe } as const;
export const MP3_TAG: number = TAG.mp3;

/** Enough for the coefficient table of MS ADPCM. */
export const FORMAT_CHUNK_BYTES = 1024;
/** The oldest form of the chunk ends before the bits per sample. */
const MIN_BYTES = 14;
const COMMON_BYTES = 18;

/** AUDIO_UNREADABLE for values that no recorder writes, INVALID_FILE_FORMAT for an unknown sub-format. */
export function readFormat(chunk: DataView, littleEndian: boolean) {
  if (chunk.byteLength < MIN_BYTES) throw unreadable('The format chunk of the WAV file is cut short.');
  const u16 = (at: number): number => chunk.getUint16(at, littleEndian);
  const commonBytes = Math.min(COMMON_BYTES, chunk.byteLength);
  const extension = new DataView(chunk.buffer, chunk.byteOffset + commonBytes, chunk.byteLength - commonBytes);
  const channels = u16(2);
  const format = {
    tag: u16(0) === TAG.extensible ? subFormat(extension, littleEndian, channels) : u16(0),
    channels,
    sampleRate: chunk.getUint32(4, littleEndian),
    bytesPerSecond: chunk.getUint32(8, littleEndian),
    blockBytes: u16(12),
    bits: chunk.byteLength >= 16 ? u16(14) : 8,
    /** The bytes after the common fields, as far as they were read. */
    extension,
    littleEndian,
  };
  checkChannelsAndRate(format);
  if (format.blockBytes === 0) throw unreadable('The header of the WAV file says that a frame takes 0 bytes.');
  return format;
}

/** Sub-formats have the GUID {tag-0000-0010-8000-00AA00389B71}. The tail is in file byte order. */
const SUB_FORMAT_AT = 6;
const SUB_FORMAT_BYTES = 16;
const SUB_FORMAT_TAIL = '000000001000800000aa00389b71';

function subFormat(extension: DataView, littleEndian: boolean, channels: number): number {
  if (extension.byteLength < SUB_FORMAT_AT + SUB_FORMAT_BYTES) {
    throw unreadable('The format chunk of the WAV file is cut short.');
  }
  const bytes = new Uint8Array(extension.buffer, extension.byteOffset + SUB_FORMAT_AT, SUB_FORMAT_BYTES);
  const tail = Buffer.from(bytes.subarray(2)).toString('hex');
  if (littleEndian && tail !== SUB_FORMAT_TAIL) {
    throw unsupportedCodec('wav', `the sub-format ${Buffer.from(bytes).toString('hex')}`, channels);
  }
  // Writers of big-endian files swap the GUID's first field as two bytes or as four, so the tag is in either half.
  return extension.getUint16(SUB_FORMAT_AT, littleEndian) || extension.getUint16(SUB_FORMAT_AT + 2, littleEndian);
}

export function codecOf(format: WavFormat): BlockCodec {
  const { tag, channels, bits, littleEndian } = format;
  switch (tag) {
    case TAG.pcm: {
      if (bits === 0) throw unreadable('The header of the WAV file says that a sample has 0 bits.');
      const bytes = containerBytes(format);
      if (bytes === null) throw unsupportedCodec('wav', `integers of ${bits} bits`, channels);
      if (bytes === 1) return pcm({ kind: 'unsigned', bytes }, channels);
      return pcm({ kind: 'signed', bytes, littleEndian }, channels);
    }
    case TAG.float:
      if (bits !== 32 && bits !== 64) throw unsupportedCodec('wav', `floats of ${bits} bits`, channels);
      return pcm({ kind: 'float', bytes: bits === 32 ? 4 : 8, littleEndian }, channels);
    case TAG.alaw:
      return alaw(channels);
    case TAG.mulaw:
      return mulaw(channels);
    case TAG.imaAdpcm:
      if (bits !== 4) throw unsupportedCodec('wav', `IMA ADPCM of ${bits} bits`, channels);
      return orUnreadable(imaWav(channels, format.blockBytes));
    case TAG.msAdpcm:
      if (channels > 2) throw unsupportedCodec('wav', `MS ADPCM of ${channels} channels`, channels);
      return orUnreadable(msAdpcm(channels === 1 ? 1 : 2, format.blockBytes, coefficientsOf(format)));
    default:
      throw unsupportedCodec('wav', codecOfTag(tag), channels);
  }
}

function orUnreadable(codec: BlockCodec | null): BlockCodec {
  if (!codec) throw unreadable('The header of the WAV file says that a block is smaller than its own header.');
  return codec;
}

/**
 * The bytes per sample, which may be more than the bits need. Many writers store a wrong block size, so it counts only
 * when the bytes per second agree with it.
 */
function containerBytes(format: WavFormat): 1 | 2 | 3 | 4 | null {
  const least = bytesForBits(format.bits);
  const declared = bytesForBits((8 * format.blockBytes) / format.channels);
  if (least === null || declared === null || declared <= least) return least;
  if (declared * format.channels !== format.blockBytes) return least;
  return format.bytesPerSecond === format.blockBytes * format.sampleRate ? declared : least;
}

/**
 * The coefficient table follows the frames per block and its own length. The standard table replaces one that is cut off
 * or too short.
 */
function coefficientsOf({ extension, littleEndian }: WavFormat): readonly Coefficients[] {
  const count = extension.byteLength >= 4 ? extension.getUint16(2, littleEndian) : 0;
  if (count < STANDARD_COEFFICIENTS.length || count > 256 || extension.byteLength < 4 + 4 * count) {
    return STANDARD_COEFFICIENTS;
  }
  return Array.from({ length: count }, (_, index): Coefficients => {
    const at = 4 + 4 * index;
    return [extension.getInt16(at, littleEndian), extension.getInt16(at + 2, littleEndian)];
  });
}

/** The codecs of WAV that are not supported, by name, with their `wFormatTag` (RFC 2361 and later registrations). */
const TAGS_OF: Readonly<Record<string, readonly number[]>> = {
  'OKI ADPCM': [0x0010],
  'Intel MediaSpace ADPCM': [0x0012],
  'G.723 ADPCM': [0x0014],
  'Dialogic OKI ADPCM': [0x0016, 0x0017],
  'Yamaha ADPCM': [0x0020],
  'DSP Group TrueSpeech': [0x0022],
  'GSM 6.10': [0x0031],
  'Rockwell ADPCM': [0x0038],
  'G.721 ADPCM': [0x0040],
  'G.728 CELP': [0x0041],
  'Microsoft G.723.1': [0x0042],
  'G.726 ADPCM': [0x0045, 0x0059, 0x0064, 0x0140],
  'MPEG audio layer I or II': [0x0050],
  'AMR narrowband': [0x0057],
  'AMR wideband': [0x0058],
  'Duck DK4 ADPCM': [0x0061],
  'Duck DK3 ADPCM': [0x0062],
  'G.722': [0x0065, 0x028f],
  'Voxware or Xbox ADPCM': [0x0069],
  'G.729': [0x0083],
  'DSP Group G.726 ADPCM': [0x0085],
  'Dolby AC-3': [0x0092, 0x2000],
  AAC: [0x00ff, 0x1600, 0x1602, 0x1610, 0xa106],
  'Vivo G.723.1': [0x0111],
  'Digital G.723.1': [0x0123],
  'Sanyo ADPCM': [0x0125],
  'Sipro ACELP G.729': [0x0133],
  'Sipro G.729A': [0x0134],
  'Windows Media Audio 1': [0x0160],
  'Windows Media Audio 2': [0x0161],
  'Windows Media Audio Professional': [0x0162],
  'Windows Media Audio lossless': [0x0163],
  'Creative ADPCM': [0x0200],
  ATRAC3: [0x0270],
  DTS: [0x2001],
  Vorbis: [0x566f, 0x674f, 0x6750, 0x6751, 0x676f, 0x6770, 0x6771],
  Opus: [0x704f],
  'G.723.1': [0xa100],
  Speex: [0xa109],
  'Windows Media Audio voice': [0xa10a],
  FLAC: [0xf1ac],
};

/** A name for messages; every tag has one. */
function codecOfTag(tag: number): string {
  const named = Object.keys(TAGS_OF).find((name) => TAGS_OF[name]!.includes(tag));
  return named ?? `the codec 0x${tag.toString(16).padStart(4, '0')}`;
}
