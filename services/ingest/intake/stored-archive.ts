import { buffer } from 'node:stream/consumers';
import { Fault } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import { type Archive, readArchive } from '@call-analysis/zip';
import type { Archive as StoredArchive } from '../store/index.ts';

/** Judges an archive in the object store by ranged reads of its directory. Fault FILE_TOO_LARGE, and those of `readArchive`. */
export async function readStoredArchive(
  objects: Objects,
  { key, bytes }: StoredArchive,
  maxBytes: number,
): Promise<Archive> {
  if (bytes > maxBytes) {
    const message = `The ZIP has ${bytes} bytes; at most ${maxBytes} are taken. Split it, and its CSV with it.`;
    throw new Fault('invalid', 'FILE_TOO_LARGE', message, { details: { size_bytes: bytes, limit_bytes: maxBytes } });
  }
  return readArchive({
    sizeBytes: bytes,
    read: async (start, end) =>
      start >= end ? Buffer.alloc(0) : buffer(await objects.open(key, { start, end: end - 1 })),
  });
}
