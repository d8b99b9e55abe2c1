import { type SampleData, sampleData, sampleDataContainer } from '../codecs/sample-data.ts';
import { unreadable, wrongContent } from '../faults.ts';
import { fourCC } from '../reading/bytes.ts';
import { type Chunk, chunksOf, endOfSamples, UNKNOWN_SIZE } from '../reading/chunks.ts';
import { HeaderReader } from '../reading/header-reader.ts';
import type { Container, Source } from '../recording.ts';
import { codecOf, type Common, COMMON_CHUNK_BYTES, readCommon } from './common-chunk.ts';

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
      const length = Math.min(chunk.sizeBytes, COMMON_CHUNK_BYTES);
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
