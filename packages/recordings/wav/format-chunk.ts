import type { Codec } from '../codecs/codec.ts';
import { alaw, mulaw } from '../codecs/companding.ts';
import { imaWav } from '../codecs/ima-adpcm.ts';
import { msAdpcm, STANDARD_WEIGHTS, type Weights } from '../codecs/ms-adpcm.ts';
import { bytesForBits, pcm } from '../codecs/pcm.ts';
import { unreadable, unsupportedCodec } from '../faults.ts';
import { checkShape } from '../sound.ts';
import { codecOfTag } from './codec-tags.ts';

/** What the `fmt ` chunk says. */
export interface WavFormat {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly blockBytes: number;
  readonly bytesPerSecond: number;
  readonly bits: number;
  /** What follows the fields that all have, as far as it was read. */
  readonly extension: DataView;
  readonly littleEndian: boolean;
}

const TAG = { pcm: 1, msAdpcm: 2, float: 3, alaw: 6, mulaw: 7, imaAdpcm: 0x11, mp3: 0x55, extensible: 0xfffe } as const;
export const MP3_TAG: number = TAG.mp3;

/** Longer than the table of weights that MS ADPCM may bring. */
export const FORMAT_CHUNK_BYTES = 1024;
/** The first 14 bytes are as old as WAV; the bits per sample and all that follows came later. */
const LEAST_BYTES = 14;
const COMMON_BYTES = 18;

/** Throws AUDIO_UNREADABLE for what no recorder writes, INVALID_FILE_FORMAT for an unknown kind of sub-format. */
export function readFormat(chunk: DataView, littleEndian: boolean): WavFormat {
  if (chunk.byteLength < LEAST_BYTES) throw unreadable('The format chunk of the WAV file is cut short.');
  const u16 = (at: number): number => chunk.getUint16(at, littleEndian);
  const rest = Math.min(COMMON_BYTES, chunk.byteLength);
  const extension = new DataView(chunk.buffer, chunk.byteOffset + rest, chunk.byteLength - rest);
  const format = {
    tag: u16(0) === TAG.extensible ? subFormat(extension, littleEndian) : u16(0),
    channels: u16(2),
    sampleRate: chunk.getUint32(4, littleEndian),
    bytesPerSecond: chunk.getUint32(8, littleEndian),
    blockBytes: u16(12),
    bits: chunk.byteLength >= 16 ? u16(14) : 8,
    extension,
    littleEndian,
  };
  checkShape(format);
  if (format.blockBytes === 0) throw unreadable('The header of the WAV file says that a frame takes 0 bytes.');
  return format;
}

/** Of the identifiers {tag-0000-0010-8000-00AA00389B71}, as they lie in the file. */
const SUB_FORMAT_AT = 6;
const SUB_FORMAT_BYTES = 16;
const SUB_FORMAT_TAIL = '000000001000800000aa00389b71';

function subFormat(extension: DataView, littleEndian: boolean): number {
  if (extension.byteLength < SUB_FORMAT_AT + SUB_FORMAT_BYTES) {
    throw unreadable('The format chunk of the WAV file is cut short.');
  }
  const bytes = new Uint8Array(extension.buffer, extension.byteOffset + SUB_FORMAT_AT, SUB_FORMAT_BYTES);
  const tail = Buffer.from(bytes.subarray(2)).toString('hex');
  if (littleEndian && tail !== SUB_FORMAT_TAIL) {
    throw unsupportedCodec('wav', `the sub-format ${Buffer.from(bytes).toString('hex')}`);
  }
  // A big-endian file has the tag in the first two bytes or in the next two: writers turn round two bytes, or four.
  return extension.getUint16(SUB_FORMAT_AT, littleEndian) || extension.getUint16(SUB_FORMAT_AT + 2, littleEndian);
}

export function codecOf(format: WavFormat): Codec {
  const { tag, channels, bits, littleEndian } = format;
  switch (tag) {
    case TAG.pcm: {
      if (bits === 0) throw unreadable('The header of the WAV file says that a sample has 0 bits.');
      const bytes = containerBytes(format);
      if (bytes === null) throw unsupportedCodec('wav', `integers of ${bits} bits`);
      if (bytes === 1) return pcm({ kind: 'unsigned', bytes }, channels);
      return pcm({ kind: 'signed', bytes, littleEndian }, channels);
    }
    case TAG.float:
      if (bits !== 32 && bits !== 64) throw unsupportedCodec('wav', `floats of ${bits} bits`);
      return pcm({ kind: 'float', bytes: bits === 32 ? 4 : 8, littleEndian }, channels);
    case TAG.alaw:
      return alaw(channels);
    case TAG.mulaw:
      return mulaw(channels);
    case TAG.imaAdpcm:
      if (bits !== 4) throw unsupportedCodec('wav', `IMA ADPCM of ${bits} bits`);
      return orUnreadable(imaWav(channels, format.blockBytes));
    case TAG.msAdpcm:
      if (channels > 2) throw unsupportedCodec('wav', `MS ADPCM of ${channels} channels`);
      return orUnreadable(msAdpcm(channels === 1 ? 1 : 2, format.blockBytes, weightsOf(format)));
    default:
      throw unsupportedCodec('wav', codecOfTag(tag));
  }
}

function orUnreadable(codec: Codec | null): Codec {
  if (!codec) throw unreadable('The header of the WAV file says that a block is smaller than what it begins with.');
  return codec;
}

/**
 * A sample may have more bytes than its bits need. Many writers get the size of a frame wrong where readers do not look
 * at it, so it counts only where the bytes per second say the same.
 */
function containerBytes(format: WavFormat): 1 | 2 | 3 | 4 | null {
  const least = bytesForBits(format.bits);
  const said = bytesForBits((8 * format.blockBytes) / format.channels);
  if (least === null || said === null || said <= least || said * format.channels !== format.blockBytes) return least;
  return format.bytesPerSecond === format.blockBytes * format.sampleRate ? said : least;
}

/** The weights stand behind the frames per block and their own number; a table that is cut or too short is not used. */
function weightsOf({ extension, littleEndian }: WavFormat): readonly Weights[] {
  const count = extension.byteLength >= 4 ? extension.getUint16(2, littleEndian) : 0;
  if (count < STANDARD_WEIGHTS.length || count > 256 || extension.byteLength < 4 + 4 * count) return STANDARD_WEIGHTS;
  return Array.from({ length: count }, (_, index): Weights => {
    const at = 4 + 4 * index;
    return [extension.getInt16(at, littleEndian), extension.getInt16(at + 2, littleEndian)];
  });
}
