import { type Chunk, chunksFrom, endOfSamples, UNKNOWN_SIZE } from '../chunks.ts';
import { notOfFormat, unreadable } from '../faults.ts';
import { fourCharacters, HeaderReader } from '../header-reader.ts';
import type { Container, Source } from '../recording.ts';
import { type Sound, sound, soundContainer } from '../sound.ts';
import { codecOf, type Common, COMMON_CHUNK_BYTES, readCommon } from './common-chunk.ts';

/** AIFF and AIFF-C (Apple, "Audio Interchange File Format AIFF-C"). */
export const aiff: Container = soundContainer('aiff', locate);

/** Walks the chunks until format and samples are found, in whichever order. */
async function locate(source: Source): Promise<Sound> {
  const reader = new HeaderReader(source);
  const header = await reader.read(0, 12);
  const kind = fourCharacters(header, 8);
  if (fourCharacters(header) !== 'FORM' || (kind !== 'AIFF' && kind !== 'AIFC')) throw notOfFormat('aiff');

  let common: Common | null = null;
  let samples: { start: number; end: number } | null = null;
  for await (const chunk of chunksFrom(reader, 12, { littleEndian: false })) {
    if (chunk.id === 'COMM' && !common) {
      const length = Math.min(chunk.sizeBytes, COMMON_CHUNK_BYTES);
      common = readCommon(await reader.read(chunk.start, length), kind === 'AIFC');
    } else if (chunk.id === 'SSND') samples ??= await placeOfSamples(reader, chunk);
    if (common && samples) {
      const { channels, sampleRate } = common;
      return sound({ codec: codecOf(common), channels, sampleRate, ...samples });
    }
  }
  if (common) codecOf(common);
  throw unreadable(`The AIFF file has no ${common ? 'samples: its SSND' : 'format: its COMM'} chunk is missing.`);
}

/** Before the samples stand their offset and the size of the blocks that they are aligned to. */
const PREFIX_BYTES = 8;

async function placeOfSamples(reader: HeaderReader, chunk: Chunk): Promise<{ start: number; end: number }> {
  const prefix = await reader.read(chunk.start, 4);
  const offset = prefix.byteLength === 4 ? prefix.getUint32(0) : 0;
  const start = chunk.start + PREFIX_BYTES + offset;
  const unknown = chunk.sizeBytes === 0 || chunk.sizeBytes === UNKNOWN_SIZE;
  if (chunk.sizeBytes === 0) {
    // A writer that streamed may have left 0 before its samples; one that had none may have left the prefix away.
    const end = await endOfSamples(reader, chunk.start, 0, false);
    if (end === chunk.start) return { start: end, end };
  }
  const said = unknown ? UNKNOWN_SIZE : Math.max(0, chunk.sizeBytes - PREFIX_BYTES - offset);
  return { start, end: await endOfSamples(reader, start, said, false) };
}
