import { open } from 'node:fs/promises';
import type { Source } from './recording.ts';

const PIECE_BYTES = 256 * 1024;

/** Opens a file; the caller closes it. The size is fixed when the file is opened. */
export async function sourceOfFile(path: string): Promise<Source & { close(): Promise<void> }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const read = async (start: number, end: number): Promise<Uint8Array> => {
      const length = Math.max(0, Math.min(end, size) - start);
      const bytes = Buffer.allocUnsafeSlow(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    };
    return { ...sourceOfReads(size, read), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export function sourceOfBytes(bytes: Uint8Array): Source {
  return sourceOfReads(bytes.length, (start, end) => Promise.resolve(bytes.subarray(start, Math.max(start, end))));
}

/** A source of the bytes from `start` up to but not including `end`. */
export function partOf(source: Source, start: number, end: number): Source {
  const sizeBytes = Math.max(0, Math.min(end, source.sizeBytes) - start);
  return {
    sizeBytes,
    read: (from, to) => source.read(start + from, start + Math.min(to, sizeBytes)),
    stream: (from) => takeBytes(source.stream(start + from), sizeBytes - from),
  };
}

/** The first `count` bytes of the pieces. */
export async function* takeBytes(pieces: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let left = count;
  if (left <= 0) return;
  for await (const piece of pieces) {
    yield piece.length > left ? piece.subarray(0, left) : piece;
    left -= piece.length;
    if (left <= 0) return;
  }
}

function sourceOfReads(sizeBytes: number, read: Source['read']): Source {
  return {
    sizeBytes,
    read,
    async *stream(start) {
      for (let offset = start; offset < sizeBytes;) {
        const piece = await read(offset, offset + PIECE_BYTES);
        if (piece.length === 0) return;
        yield piece;
        offset += piece.length;
      }
    },
  };
}
