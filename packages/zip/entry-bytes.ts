import type { Readable } from 'node:stream';
import type { ArchiveSource } from './source.ts';

/**
 * The bytes of an archive from an offset on, taken in order. The bytes that are probably needed are requested at once.
 * Another request follows only when they were not enough.
 */
export class EntryBytes {
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
