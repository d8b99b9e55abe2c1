import { alaw, mulaw } from '../codecs/g711.ts';
import { imaQuickTime } from '../codecs/ima-adpcm.ts';
import { bytesForBits, pcm } from '../codecs/pcm.ts';
import {
  type BlockCodec,
  checkChannelsAndRate,
  type SampleData,
  sampleData,
  sampleDataContainer,
} from '../codecs/sample-data.ts';
import { unreadable, unsupportedCodec, wrongContent } from '../faults.ts';
import { fourCC } from '../reading/bytes.ts';
import { type Chunk, chunksOf, endOfSamples, HeaderReader, UNKNOWN_SIZE } from '../reading/headers.ts';
import type { Container, Source } from '../recording.ts';

/** AIFF and AIFF-C (Apple, "Audio Interchange File Format AIFF-C"). */
export const aiff: Container = sampleDataContainer('aiff', locate);

/** Walks the chunks until both the format and the samples are found, in either order. */
async function locate(source: Source): Promise<SampleData> {
  const reader = new HeaderReader(source);
  const header = await reader.read(0, 12);
  const kind = fourCC(header, 8);
  if (fourCC(header) !== 'FORM' || (kind !== 'AIFF' && kind !== 'AIFC')) throw wrongContent('aiff');

  let common: Common | null = null;
  let samples: { start: number; end: number } | null = null;
  for await (const chunk of chunksOf(reader, { littleEndian: false })) {
    if (chunk.id === 'COMM' && !common) {
      const length = Math.min(chunk.sizeBytes, COMPRESSED_BYTES);
      common = readCommon(await reader.read(chunk.start, length), kind === 'AIFC');
    } else if (chunk.id === 'SSND') samples ??= await locateSamples(reader, chunk);
    if (common && samples) {
      const { channels, sampleRate } = common;
      return sampleData({ codec: codecOf(common), channels, sampleRate, ...samples });
    }
  }
  if (common) codecOf(common);
  throw unreadable(`The AIFF file has no ${common ? 'samples: its SSND' : 'format: its COMM'} chunk is missing.`);
}

/** The samples follow their offset and their alignment block size, four bytes each. */
const PREFIX_BYTES = 8;

async function locateSamples(reader: HeaderReader, chunk: Chunk): Promise<{ start: number; end: number }> {
  const prefix = await reader.read(chunk.start, 4);
  const offset = prefix.byteLength === 4 ? prefix.getUint32(0) : 0;
  const start = chunk.start + PREFIX_BYTES + offset;
  const unknown = chunk.sizeBytes === 0 || chunk.sizeBytes === UNKNOWN_SIZE;
  if (chunk.sizeBytes === 0) {
    // A streaming writer leaves the size 0. A writer without samples may leave out these eight bytes as well.
    const end = await endOfSamples(reader, chunk.start, 0, false);
    if (end === chunk.start) return { start: end, end };
  }
  const declaredBytes = unknown ? UNKNOWN_SIZE : Math.max(0, chunk.sizeBytes - PREFIX_BYTES - offset);
  return { start, end: await endOfSamples(reader, start, declaredBytes, false) };
}

/** The content of the `COMM` chunk. */
type Common = ReturnType<typeof readCommon>;

const PLAIN_BYTES = 18;
const COMPRESSED_BYTES = 22;

function readCommon(chunk: DataView, compressed: boolean) {
  if (chunk.byteLength < (compressed ? COMPRESSED_BYTES : PLAIN_BYTES)) {
    throw unreadable('The common chunk of the AIFF file is cut short.');
  }
  const common = {
    channels: chunk.getUint16(0),
    bits: chunk.getUint16(6),
    sampleRate: Math.round(readExtendedFloat(chunk, 8)),
    // Plain AIFF has no such field.
    compression: compressed ? fourCC(chunk, PLAIN_BYTES) : 'NONE',
  };
  checkChannelsAndRate(common);
  return common;
}

/** The codecs of AIFF-C that are not supported, by compression type. */
const NAMES: Readonly<Record<string, string>> = {
  ACE2: 'ACE 2-to-1',
  ACE8: 'ACE 8-to-3',
  ADP4: 'Intel DVI ADPCM',
  DWVW: 'Delta With Variable Word Width',
  GSM: 'GSM 6.10',
  MAC3: 'MACE 3-to-1',
  MAC6: 'MACE 6-to-1',
  QDM2: 'QDesign Music 2',
  QDMC: 'QDesign Music',
  Qclp: 'Qualcomm PureVoice',
  G722: 'G.722',
  G726: 'G.726 ADPCM',
  G728: 'G.728 CELP',
  agsm: 'GSM 6.10',
  alac: 'Apple Lossless',
  mp4a: 'AAC',
  '.mp3': 'MP3',
};

function codecOf({ channels, bits, compression }: Common): BlockCodec {
  switch (compression) {
    case 'NONE':
    case 'twos':
      return integers(bits, false, channels);
    case 'sowt':
      return integers(bits, true, channels);
    case 'in16':
      return integers(16, false, channels);
    case 'in24':
      return integers(24, false, channels);
    case 'in32':
      return integers(32, false, channels);
    case '42ni':
      return integers(24, true, channels);
    case '23ni':
      return integers(32, true, channels);
    case 'raw ':
      if (bits > 8) throw unsupportedCodec('aiff', `unsigned integers of ${bits} bits`, channels);
      return pcm({ kind: 'unsigned', bytes: 1 }, channels);
    case 'fl32':
    case 'FL32':
      return pcm({ kind: 'float', bytes: 4, littleEndian: false }, channels);
    case 'fl64':
    case 'FL64':
      return pcm({ kind: 'float', bytes: 8, littleEndian: false }, channels);
    case 'alaw':
    case 'ALAW':
      return alaw(channels);
    case 'ulaw':
    case 'ULAW':
      return mulaw(channels);
    case 'ima4':
      return imaQuickTime(channels);
    default:
      throw unsupportedCodec('aiff', nameOf(compression), channels);
  }
}

function integers(bits: number, littleEndian: boolean, channels: number): BlockCodec {
  if (bits === 0) throw unreadable('The header of the AIFF file says that a sample has 0 bits.');
  const bytes = bytesForBits(bits);
  if (bytes === null) throw unsupportedCodec('aiff', `integers of ${bits} bits`, channels);
  return pcm({ kind: 'signed', bytes, littleEndian }, channels);
}

function nameOf(compression: string): string {
  const known = NAMES[compression.trim()];
  if (known) return known;
  return /^[ -~]{4}$/.test(compression) ? `the codec "${compression}"` : 'a codec without a name';
}

/**
 * Reads the 80-bit floating-point number in which AIFF stores the sample rate: sign and exponent, then 64 bits of
 * mantissa with an explicit integer bit. NaN for a negative number, an infinity or NaN.
 */
export function readExtendedFloat(view: DataView, at: number): number {
  const exponent = view.getUint16(at);
  if (exponent >= 0x7fff) return Number.NaN;
  return (view.getUint32(at + 2) * 2 ** 32 + view.getUint32(at + 6)) * 2 ** (exponent - 16_383 - 63);
}
