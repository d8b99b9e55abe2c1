import { UNKNOWN_SIZE } from '../chunks.ts';
import type { Codec } from '../codecs/codec.ts';
import { alaw, mulaw } from '../codecs/companding.ts';
import { pcm } from '../codecs/pcm.ts';
import { notOfFormat, unreadable, unsupportedCodec } from '../faults.ts';
import { fourCharacters, HeaderReader } from '../header-reader.ts';
import type { Container, Source } from '../recording.ts';
import { checkShape, type Sound, sound, soundContainer } from '../sound.ts';

/** Sun and NeXT audio. */
export const au: Container = soundContainer('au', locate);

/** DEC's machines wrote a mark of their own, and either mark with the bytes turned round. */
const BIG_ENDIAN = ['.snd', '.sd\0'];
const LITTLE_ENDIAN = ['dns.', '\0ds.'];
const HEADER_BYTES = 24;

export function isAu(mark: string): boolean {
  return BIG_ENDIAN.includes(mark) || LITTLE_ENDIAN.includes(mark);
}

async function locate(source: Source): Promise<Sound> {
  const header = await new HeaderReader(source).read(0, HEADER_BYTES);
  const mark = fourCharacters(header);
  if (!isAu(mark)) throw notOfFormat('au');
  if (header.byteLength < HEADER_BYTES) throw unreadable('The header of the AU file is cut short.');
  const littleEndian = LITTLE_ENDIAN.includes(mark);
  const field = (index: number): number => header.getUint32(4 * index, littleEndian);

  const start = field(1);
  if (start < HEADER_BYTES) throw unreadable(`The AU file says that its header has ${start} bytes; none has so few.`);
  const said = field(2);
  const shape = { sampleRate: field(4), channels: field(5) };
  checkShape(shape);
  // Nothing follows the samples, so 0 can but mean that the writer did not know (api.md, section 4).
  const unknown = said === 0 || said === UNKNOWN_SIZE;
  const end = Math.max(start, unknown ? source.sizeBytes : Math.min(start + said, source.sizeBytes));
  return sound({ codec: codecOf(field(3), shape.channels, littleEndian), ...shape, start, end });
}

/** What stands behind an encoding that is not decoded here. */
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

function codecOf(encoding: number, channels: number, littleEndian: boolean): Codec {
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
      throw unsupportedCodec('au', NAMES[encoding] ?? `the encoding ${encoding}`);
  }
}
