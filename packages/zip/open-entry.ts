import { Readable, pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { ByteRange } from './entry-bytes.ts';
import {
  type ArchivedEntry,
  DESCRIPTOR_BYTES,
  descriptorAgrees,
  LOCAL_HEADER_BYTES,
  readLocalHeader,
} from './format/local-header.ts';

const DEFLATED = 8;
/** Room for the extra fields that writers add (times, owners, ZIP64), so that one request brings the whole entry. */
const LIKELY_EXTRA_BYTES = 64;
/** A larger piece makes no entry faster; smaller ones cost a trip to the thread pool each. */
const MAX_PIECE_BYTES = 256 * 1024;
const MIN_PIECE_BYTES = 1024;

/**
 * The bytes of one entry, inflated as they are asked for. Rejects, or the stream fails, with Fault ENTRY_CORRUPT when
 * the local header, the data or the descriptor behind them is not what the directory says (api.md, section 5), at the
 * latest after the declared bytes; never more than those come out. Faults of the store come through as they are.
 */
export async function openEntry(
  objects: Pick<Objects, 'open'>,
  archiveKey: string,
  archiveBytes: number,
  entry: ArchivedEntry,
): Promise<Readable> {
  const nameBytes = Buffer.byteLength(entry.raw_name, 'base64');
  const least = LOCAL_HEADER_BYTES + nameBytes + entry.compressed_bytes;
  if (entry.offset + least > archiveBytes) throw corrupt('it reaches beyond the end of the archive');
  const likelyEnd = Math.min(archiveBytes, entry.offset + least + LIKELY_EXTRA_BYTES + DESCRIPTOR_BYTES);
  const range = new ByteRange(objects, archiveKey, archiveBytes, entry.offset, likelyEnd);
  try {
    const header = readLocalHeader(await range.take(LOCAL_HEADER_BYTES), entry);
    if (typeof header === 'string') throw corrupt(header);
    const disagreement = header.disagrees(await range.take(header.variableBytes));
    if (disagreement !== null) throw corrupt(disagreement);
    return streamOf(contents(range, entry, header.sizesFollow), range);
  } catch (error) {
    range.close();
    throw error;
  }
}

async function* contents(range: ByteRange, entry: ArchivedEntry, sizesFollow: boolean): AsyncGenerator<Buffer> {
  const compressed = range.pieces(entry.compressed_bytes);
  let left = entry.bytes;
  let sum = 0;
  for await (const piece of entry.method === DEFLATED ? inflated(compressed, entry) : compressed) {
    left -= piece.length;
    if (left < 0) throw corrupt('it holds more than the directory says');
    sum = crc32(piece, sum);
    yield piece;
  }
  if (left > 0) throw corrupt('it holds less than the directory says');
  if (sum !== entry.crc32) throw corrupt('its checksum is wrong');
  if (sizesFollow && !descriptorAgrees(await range.take(DESCRIPTOR_BYTES), entry)) {
    throw corrupt('what stands behind its data disagrees with the directory');
  }
}

async function* inflated(compressed: AsyncIterable<Buffer>, entry: ArchivedEntry): AsyncGenerator<Buffer> {
  const chunkSize = Math.min(MAX_PIECE_BYTES, Math.max(MIN_PIECE_BYTES, entry.bytes));
  const inflate = createInflateRaw({ chunkSize });
  // Whatever ends the one ends the other; the loop below sees the error.
  pipeline(Readable.from(compressed), inflate, () => {});
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) yield piece;
  } catch (error) {
    throw isBadData(error) ? corrupt('its data cannot be inflated', error) : error;
  }
  if (inflate.bytesWritten !== entry.compressed_bytes)
    throw corrupt('other bytes stand between its data and their end');
}

/** Data that makes no sense, or that ends too early. Lack of memory is no fault of the archive. */
function isBadData(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR';
}

/** Unlike Readable.from, ends a read of the store that is still waiting when nobody wants the bytes any more. */
function streamOf(pieces: AsyncGenerator<Buffer>, range: ByteRange): Readable {
  return new Readable({
    read() {
      pieces.next().then(
        ({ done, value }) => this.push(done === true ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      void abandon(pieces, range);
      done(error);
    },
  });
}

async function abandon(pieces: AsyncGenerator<Buffer>, range: ByteRange): Promise<void> {
  range.close();
  try {
    await pieces.return(undefined);
  } catch {
    // The error of the read that was just ended.
  }
}

function corrupt(why: string, cause?: unknown): Fault {
  const message = `The recording cannot be taken out of the archive: ${why}. Make the archive again and send the call anew.`;
  return new Fault('invalid', 'ENTRY_CORRUPT', message, { cause });
}
