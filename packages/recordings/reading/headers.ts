import { unreadable } from '../faults.ts';
import type { Source } from '../recording.ts';
import { fourCC } from './bytes.ts';

/** Covers a usual header in one read. */
const FIRST_READ_BYTES = 4096;
/** A chain of chunks costs one read of this size per jump, so MAX_BYTES ends the chain after about 200 jumps. */
const NEXT_READ_BYTES = 1024;
const MAX_BYTES = 192 * 1024;

/** Reads headers in a few small ranged reads. AUDIO_UNREADABLE when a file needs more than any valid header does. */
export class HeaderReader {
  readonly sizeBytes: number;
  readonly #source: Source;
  #buffer: Uint8Array = new Uint8Array(0);
  #bufferStart = 0;
  #readBytes = 0;

  constructor(source: Source) {
    this.#source = source;
    this.sizeBytes = source.sizeBytes;
  }

  /** The bytes from `start` on; fewer where the file ends. */
  async read(start: number, length: number): Promise<DataView<ArrayBufferLike>> {
    const end = Math.min(start + length, this.sizeBytes);
    if (end <= start) return new DataView(new ArrayBuffer(0));
    if (start < this.#bufferStart || end > this.#bufferStart + this.#buffer.length) await this.#load(start, end);
    const offset = this.#buffer.byteOffset + start - this.#bufferStart;
    const available = this.#bufferStart + this.#buffer.length - start;
    return new DataView(this.#buffer.buffer, offset, Math.max(0, Math.min(end - start, available)));
  }

  async #load(start: number, end: number): Promise<void> {
    const minimum = this.#readBytes === 0 ? FIRST_READ_BYTES : NEXT_READ_BYTES;
    const until = Math.min(Math.max(end, start + minimum), this.sizeBytes);
    this.#readBytes += until - start;
    if (this.#readBytes > MAX_BYTES) throw unreadable('The headers of the recording do not come to an end.');
    this.#buffer = await this.#source.read(start, until);
    this.#bufferStart = start;
  }
}

/** The size that a streaming writer leaves when it never returns to fill in the real one. */
export const UNKNOWN_SIZE = 0xffff_ffff;

/** A chunk of a RIFF or IFF file. */
export interface Chunk {
  readonly id: string;
  /** Offset of the content. */
  readonly start: number;
  /** Size of the content as its header declares it. It may reach beyond the end of the file. */
  readonly sizeBytes: number;
}

const HEADER_BYTES = 8;

/** The container is a chunk itself: a name, a size and a type precede the others. */
const FIRST_CHUNK = 12;

/**
 * Yields the chunks of a file, following their declared sizes. `sizeOf` may correct a declared size where the file stores
 * the real one elsewhere.
 */
export async function* chunksOf(
  reader: HeaderReader,
  options: { littleEndian: boolean; sizeOf?: (id: string, declaredBytes: number) => number },
): AsyncGenerator<Chunk> {
  for (let offset = FIRST_CHUNK; offset + HEADER_BYTES <= reader.sizeBytes;) {
    const header = await reader.read(offset, HEADER_BYTES);
    const id = fourCC(header);
    const declaredBytes = header.getUint32(4, options.littleEndian);
    const sizeBytes = options.sizeOf?.(id, declaredBytes) ?? declaredBytes;
    const chunk = { id, start: offset + HEADER_BYTES, sizeBytes };
    yield chunk;
    offset = chunk.start + chunk.sizeBytes;
    if (chunk.sizeBytes % 2 === 1) offset += await paddingAt(reader, offset, options.littleEndian);
  }
}

/** A chunk of odd size is followed by a padding byte. Some writers omit it: then the next header follows directly. */
async function paddingAt(reader: HeaderReader, offset: number, littleEndian: boolean): Promise<0 | 1> {
  if (await isChunk(reader, offset + 1, littleEndian)) return 1;
  return (await isChunk(reader, offset, littleEndian)) ? 0 : 1;
}

/** Whether the bytes at `offset` read as a chunk that ends within the file. */
async function isChunk(reader: HeaderReader, offset: number, littleEndian: boolean): Promise<boolean> {
  const header = await reader.read(offset, HEADER_BYTES);
  if (header.byteLength < HEADER_BYTES || !/^[!-~][ -~]{3}$/.test(fourCC(header))) return false;
  return offset + HEADER_BYTES + header.getUint32(4, littleEndian) <= reader.sizeBytes;
}

/** Whether a chunk is at `offset` that another one or the end of the file follows: samples may look like one chunk. */
async function leadsOn(reader: HeaderReader, offset: number, littleEndian: boolean): Promise<boolean> {
  if (!(await isChunk(reader, offset, littleEndian))) return false;
  const header = await reader.read(offset, HEADER_BYTES);
  const end = offset + HEADER_BYTES + header.getUint32(4, littleEndian);
  if (end + 1 >= reader.sizeBytes) return true;
  return (await isChunk(reader, end, littleEndian)) || isChunk(reader, end + 1, littleEndian);
}

/**
 * The end of the samples that begin at `start` and have the declared size `sizeBytes`. A streaming writer leaves the
 * size 0 or 0xFFFFFFFF: then the samples reach to the end of the file. If other chunks follow a size of 0, there are no
 * samples. Of a cut-off file the remaining samples count (docs/recordings.md, "Wrong sizes and cut-off files").
 */
export async function endOfSamples(
  reader: HeaderReader,
  start: number,
  sizeBytes: number,
  littleEndian: boolean,
): Promise<number> {
  if (sizeBytes === 0) return (await leadsOn(reader, start, littleEndian)) ? start : Math.max(start, reader.sizeBytes);
  if (sizeBytes === UNKNOWN_SIZE) return Math.max(start, reader.sizeBytes);
  return Math.max(start, Math.min(start + sizeBytes, reader.sizeBytes));
}
