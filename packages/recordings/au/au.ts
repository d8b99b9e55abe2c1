import { alaw, mulaw } from '../codecs/g711.ts';
import { pcm } from '../codecs/pcm.ts';
import {
  type BlockCodec,
  checkChannelsAndRate,
  type SampleData,
  sampleData,
  sampleDataContainer,
} from '../codecs/sample-data.ts';
import { unreadable, unsupportedCodec, wrongContent } from '../faults.ts';
import { fourCC } from '../reading/bytes.ts';
import { HeaderReader, UNKNOWN_SIZE } from '../reading/headers.ts';
import type { Container, Source } from '../recording.ts';

/** Sun and NeXT audio. */
export const au: Container = sampleDataContainer('au', locate);

/** The signatures of Sun and of DEC. Little-endian files have them reversed. */
const BIG_ENDIAN = ['.snd', '.sd\0'];
const LITTLE_ENDIAN = ['dns.', '\0ds.'];
const HEADER_BYTES = 24;

export function isAu(signature: string): boolean {
  return BIG_ENDIAN.includes(signature) || LITTLE_ENDIAN.includes(signature);
}

async function locate(source: Source): Promise<SampleData> {
  const header = await new HeaderReader(source).read(0, HEADER_BYTES);
  const signature = fourCC(header);
  if (!isAu(signature)) throw wrongContent('au');
  if (header.byteLength < HEADER_BYTES) throw unreadable('The header of the AU file is cut short.');
  const littleEndian = LITTLE_ENDIAN.includes(signature);
  const field = (index: number): number => header.getUint32(4 * index, littleEndian);

  const start = field(1);
  if (start < HEADER_BYTES)
    throw unreadable(`The AU file says that its header has ${start} bytes; the minimum is ${HEADER_BYTES}.`);
  const declaredBytes = field(2);
  const shape = { sampleRate: field(4), channels: field(5) };
  checkChannelsAndRate(shape);
  // Nothing follows the samples in an AU file, so 0 can only mean that the writer did not know the size.
  const unknown = declaredBytes === 0 || declaredBytes === UNKNOWN_SIZE;
  const end = Math.max(start, unknown ? source.sizeBytes : Math.min(start + declaredBytes, source.sizeBytes));
  return sampleData({ codec: codecOf(field(3), shape.channels, littleEndian), ...shape, start, end });
}

/** The encodings of AU that are not supported, by number. */
const NAMES: Readonly<Record<number, string>> = {
  8: 'fragmented samples',
  10: 'DSP programs',
  11: 'fixed-point samples of 8 bits',
  12: 'fixed-point samples of 16 bits',
  13: 'fixed-point samples of 24 bits',
  14: 'fixed-point samples of 32 bits',
  18: 'emphasised samples',
  19: 'compressed samples',
  20: 'compressed and emphasised samples',
  23: 'G.721 ADPCM',
  24: 'G.722',
  25: 'G.723 ADPCM of 3 bits',
  26: 'G.723 ADPCM of 5 bits',
};

function codecOf(encoding: number, channels: number, littleEndian: boolean): BlockCodec {
  switch (encoding) {
    case 1:
      return mulaw(channels);
    case 2:
      return pcm({ kind: 'signed', bytes: 1, littleEndian }, channels);
    case 3:
      return pcm({ kind: 'signed', bytes: 2, littleEndian }, channels);
    case 4:
      return pcm({ kind: 'signed', bytes: 3, littleEndian }, channels);
    case 5:
      return pcm({ kind: 'signed', bytes: 4, littleEndian }, channels);
    case 6:
      return pcm({ kind: 'float', bytes: 4, littleEndian }, channels);
    case 7:
      return pcm({ kind: 'float', bytes: 8, littleEndian }, channels);
    case 27:
      return alaw(channels);
    default:
      throw unsupportedCodec('au', NAMES[encoding] ?? `the encoding ${encoding}`, channels);
  }
}
