import { Readable } from 'node:stream';
import type { Objects } from '@call-analysis/objects';

/** The bytes of an archive, read by ranges. */
export interface ArchiveSource {
  readonly sizeBytes: number;
  /** Streams the bytes from `start` to before `end`, both within the archive. */
  open(start: number, end: number): Promise<Readable>;
}

/** An archive in the object store. Its size is known from when it was stored. */
export function storedArchive(objects: Pick<Objects, 'open'>, key: string, sizeBytes: number): ArchiveSource {
  return {
    sizeBytes,
    open: async (start, end) => (start >= end ? Readable.from([]) : objects.open(key, { start, end: end - 1 })),
  };
}
