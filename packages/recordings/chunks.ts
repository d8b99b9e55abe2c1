import { fourCharacters, type HeaderReader } from './header-reader.ts';

/** What a writer leaves as a size that it never came back to fill in. */
export const UNKNOWN_SIZE = 0xffff_ffff;

/** A piece of a RIFF or IFF file. */
export interface Chunk {
  readonly id: string;
  /** Where its content begins. */
  readonly start: number;
  /** Of its content, as the header says: it may reach beyond the file. */
  readonly sizeBytes: number;
}

const HEADER_BYTES = 8;

/**
 * The chunks from `start` on, as far as their sizes lead. `sizeOf` may correct what a header says, where a file keeps
 * its true sizes elsewhere.
 */
export async function* chunksFrom(
  reader: HeaderReader,
  start: number,
  options: { littleEndian: boolean; sizeOf?: (id: string, said: number) => number },
): AsyncGenerator<Chunk> {
  for (let at = start; at + HEADER_BYTES <= reader.sizeBytes;) {
    const header = await reader.read(at, HEADER_BYTES);
    const id = fourCharacters(header);
    const said = header.getUint32(4, options.littleEndian);
    const chunk = { id, start: at + HEADER_BYTES, sizeBytes: options.sizeOf?.(id, said) ?? said };
    yield chunk;
    at = chunk.start + chunk.sizeBytes;
    if (chunk.sizeBytes % 2 === 1) at += await padding(reader, at, options.littleEndian);
  }
}

/** A chunk of odd size has a byte of padding behind it. Some writers forget it: then the next header stands there. */
async function padding(reader: HeaderReader, at: number, littleEndian: boolean): Promise<0 | 1> {
  if (await isChunk(reader, at + 1, littleEndian)) return 1;
  return (await isChunk(reader, at, littleEndian)) ? 0 : 1;
}

/** Whether what stands there reads as a chunk that lies within the file. */
async function isChunk(reader: HeaderReader, at: number, littleEndian: boolean): Promise<boolean> {
  const header = await reader.read(at, HEADER_BYTES);
  if (header.byteLength < HEADER_BYTES || !/^[!-~][ -~]{3}$/.test(fourCharacters(header))) return false;
  return at + HEADER_BYTES + header.getUint32(4, littleEndian) <= reader.sizeBytes;
}

/**
 * Where the samples end that begin at `start` and are said to take `sizeBytes`. A size of 0 or 0xFFFFFFFF was left by a
 * writer that streamed, and means up to the end of the file, unless what follows is another chunk: then there are no
 * samples (api.md, section 4). What a cut file still has counts.
 */
export async function endOfSamples(
  reader: HeaderReader,
  start: number,
  sizeBytes: number,
  littleEndian: boolean,
): Promise<number> {
  if (sizeBytes === 0) return (await isChunk(reader, start, littleEndian)) ? start : Math.max(start, reader.sizeBytes);
  if (sizeBytes === UNKNOWN_SIZE) return Math.max(start, reader.sizeBytes);
  return Math.max(start, Math.min(start + sizeBytes, reader.sizeBytes));
}
