import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { unavailable } from '@call-analysis/fault';
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

/**
 * An archive whose last bytes are kept once they have been read. The end record must be searched in the last 64 KiB,
 * and the directory ends there too, so no byte is fetched twice.
 */
export class Tail {
  readonly sizeBytes: number;
  /** Where `bytes` begins. It reaches to the end of the archive. */
  start: number;
  bytes: Buffer = Buffer.alloc(0);
  readonly #source: ArchiveSource;

  constructor(source: ArchiveSource) {
    this.#source = source;
    this.sizeBytes = source.sizeBytes;
    this.start = source.sizeBytes;
  }

  /** Extends `bytes` back to `start`, or to the beginning of the archive. */
  async reachBack(start: number): Promise<void> {
    const from = Math.max(0, start);
    if (from >= this.start) return;
    this.bytes = Buffer.concat([await this.#fetch(from, this.start), this.bytes]);
    this.start = from;
  }

  /** The bytes from `start` to before `end`, both within the archive. */
  async read(start: number, end: number): Promise<Buffer> {
    if (start >= this.start) return this.bytes.subarray(start - this.start, end - this.start);
    if (end <= this.start) return this.#fetch(start, end);
    return Buffer.concat([await this.#fetch(start, this.start), this.bytes.subarray(0, end - this.start)]);
  }

  async #fetch(start: number, end: number): Promise<Buffer> {
    const bytes = await buffer(await this.#source.open(start, end));
    // The store reported the size, so the archive is not the cause.
    if (bytes.length !== end - start) throw unavailable('The store of uploaded files');
    return bytes;
  }
}
