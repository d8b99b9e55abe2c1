import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import type { EntryRecord } from './entry-name.ts';
import { corruptEntry } from './faults.ts';
import { DESCRIPTOR_BYTES, descriptorAgrees, LOCAL_HEADER_BYTES, readLocalHeader } from './format/headers.ts';
import type { ArchiveSource } from './source.ts';

const DEFLATED = 8;
/** Room for the extra fields that writers add (times, owners, ZIP64), so that one request fetches the complete entry. */
const LIKELY_EXTRA_BYTES = 64;
/** Larger pieces are not faster. Smaller pieces cost a trip to the thread pool each. */
const MAX_PIECE_BYTES = 256 * 1024;
const MIN_PIECE_BYTES = 1024;

/**
 * Streams the inflated bytes of one entry on demand. Rejects, or the stream fails, with Fault ENTRY_CORRUPT when the
 * local header, the data or the data descriptor is not what the directory says (docs/api.md, "Presigned uploads"): at
 * the latest after the declared number of bytes, and never after more than those. Faults of the source are passed on.
 */
export async function openEntry(source: ArchiveSource, entry: EntryRecord): Promise<Readable> {
  const { sizeBytes } = source;
  const nameBytes = Buffer.byteLength(entry.raw_name, 'base64');
  const least = LOCAL_HEADER_BYTES + nameBytes + entry.compressed_bytes;
  if (entry.offset + least > sizeBytes) throw corruptEntry('it reaches beyond the end of the archive');
  const likelyEnd = Math.min(sizeBytes, entry.offset + least + LIKELY_EXTRA_BYTES + DESCRIPTOR_BYTES);
  const bytes = new EntryBytes(source, entry.offset, likelyEnd);
  try {
    const { sizesFollow } = await readLocalHeader(bytes, entry);
    return streamOf(contents(bytes, entry, sizesFollow), bytes);
  } catch (error) {
    bytes.close();
    throw error;
  }
}

async function* contents(bytes: EntryBytes, entry: EntryRecord, sizesFollow: boolean): AsyncGenerator<Buffer> {
  const compressed = bytes.pieces(entry.compressed_bytes);
  let left = entry.bytes;
  let sum = 0;
  for await (const piece of entry.method === DEFLATED ? inflated(compressed, entry) : compressed) {
    left -= piece.length;
    if (left < 0) throw corruptEntry('it contains more than the directory says');
    sum = crc32(piece, sum);
    yield piece;
  }
  if (left > 0) throw corruptEntry('it contains less than the directory says');
  if (sum !== entry.crc32) throw corruptEntry('its checksum is wrong');
  if (sizesFollow && !descriptorAgrees(await bytes.take(DESCRIPTOR_BYTES), entry)) {
    throw corruptEntry('the descriptor after its data disagrees with the directory');
  }
}

async function* inflated(compressed: AsyncIterable<Buffer>, entry: EntryRecord): AsyncGenerator<Buffer> {
  const chunkSize = Math.min(MAX_PIECE_BYTES, Math.max(MIN_PIECE_BYTES, entry.bytes));
  const inflate = createInflateRaw({ chunkSize });
  // The end of one stream ends the other. The loop below gets the error.
  pipeline(Readable.from(compressed), inflate, () => {});
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) yield piece;
  } catch (error) {
    throw isBadData(error) ? corruptEntry('its data cannot be inflated', error) : error;
  }
  if (inflate.bytesWritten !== entry.compressed_bytes) {
    throw corruptEntry('there are other bytes between its data and their declared end');
  }
}

/** The data is invalid or ends too early. Lack of memory is not the fault of the archive. */
function isBadData(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR';
}

/** Unlike Readable.from, stops a pending read of the source when the stream is destroyed. */
function streamOf(pieces: AsyncGenerator<Buffer>, bytes: EntryBytes): Readable {
  return new Readable({
    read() {
      pieces.next().then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      void abandon(pieces, bytes);
      done(error);
    },
  });
}

async function abandon(pieces: AsyncGenerator<Buffer>, bytes: EntryBytes): Promise<void> {
  bytes.close();
  try {
    await pieces.return(undefined);
  } catch {
    // The error of the read that was just stopped.
  }
}

/**
 * The bytes of an archive from an offset on, taken in order. The bytes that are probably needed are requested at once.
 * Another request follows only when they were not enough.
 */
class EntryBytes {
  readonly #source: ArchiveSource;
  readonly #likelyEnd: number;
  /** The offset of the end of the fetched bytes. */
  #at: number;
  #held: Buffer = Buffer.alloc(0);
  #stream: Readable | null = null;
  #chunks: AsyncIterator<Buffer> | null = null;
  #isClosed = false;

  constructor(source: ArchiveSource, start: number, likelyEnd: number) {
    this.#source = source;
    this.#at = start;
    this.#likelyEnd = likelyEnd;
  }

  /** The next `count` bytes. Fewer when the archive ends before. */
  async take(count: number): Promise<Buffer> {
    const taken: Buffer[] = [];
    for await (const piece of this.pieces(count)) taken.push(piece);
    return taken.length === 1 && taken[0] !== undefined ? taken[0] : Buffer.concat(taken);
  }

  /** The next `count` bytes in the pieces in which they arrive. Fewer when the archive ends before. */
  async *pieces(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      if (this.#held.length === 0) this.#held = await this.#fetch(left);
      if (this.#held.length === 0) return;
      const piece = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  /** Makes a read that is in progress fail. */
  close(): void {
    this.#isClosed = true;
    this.#stream?.destroy();
  }

  /** Some bytes, or none at the end of the archive. */
  async #fetch(wanted: number): Promise<Buffer> {
    for (;;) {
      const isFresh = this.#chunks === null;
      this.#chunks ??= await this.#open(wanted);
      const next = await this.#chunks?.next();
      if (next !== undefined && next.done !== true) {
        this.#at += next.value.length;
        return next.value;
      }
      this.#chunks = null;
      if (isFresh) return Buffer.alloc(0);
    }
  }

  async #open(wanted: number): Promise<AsyncIterator<Buffer> | null> {
    const end = Math.min(this.#source.sizeBytes, Math.max(this.#likelyEnd, this.#at + wanted));
    if (this.#at >= end) return null;
    this.#stream = await this.#source.open(this.#at, end);
    if (this.#isClosed) this.#stream.destroy();
    return (this.#stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }
}
