import { unavailable } from '@call-analysis/fault';

/** The bytes of an archive, wherever they are kept. */
export interface ArchiveSource {
  readonly sizeBytes: number;
  /** Bytes from `start` to before `end`, both within the source. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/**
 * A source whose last bytes are held once read. The end record has to be looked for in the last 64 KiB, and there
 * the directory ends as well, so whoever reads on from here fetches no byte twice.
 */
export class Tail {
  readonly sizeBytes: number;
  /** Where `bytes` begins; it goes on to the end of the source. */
  start: number;
  bytes: Buffer = Buffer.alloc(0);
  readonly #source: ArchiveSource;

  constructor(source: ArchiveSource) {
    this.#source = source;
    this.sizeBytes = source.sizeBytes;
    this.start = source.sizeBytes;
  }

  /** Holds all bytes from `start` on, or from the beginning of the source when that comes later. */
  async reachBack(start: number): Promise<void> {
    const from = Math.max(0, start);
    if (from >= this.start) return;
    this.bytes = Buffer.concat([await this.#fetch(from, this.start), this.bytes]);
    this.start = from;
  }

  /** Bytes from `start` to before `end`, which must lie within the source. */
  async read(start: number, end: number): Promise<Buffer> {
    if (start >= this.start) return this.bytes.subarray(start - this.start, end - this.start);
    if (end <= this.start) return this.#fetch(start, end);
    return Buffer.concat([await this.#fetch(start, this.start), this.bytes.subarray(0, end - this.start)]);
  }

  async #fetch(start: number, end: number): Promise<Buffer> {
    const bytes = await this.#source.read(start, end);
    // The size was told by whoever keeps the bytes, so this is no fault of the archive.
    if (bytes.length !== end - start) throw unavailable('The store of uploaded files');
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}
