import type { Readable } from 'node:stream';
import type { Objects } from '@call-analysis/objects';

/**
 * Bytes of an object from a place on, taken in order. What is likely to be wanted is asked for in one request;
 * the store is asked again only when it was not enough.
 */
export class ByteRange {
  readonly #objects: Pick<Objects, 'open'>;
  readonly #key: string;
  readonly #sizeBytes: number;
  readonly #likelyEnd: number;
  /** Where the next byte from the store belongs. */
  #at: number;
  #held: Buffer = Buffer.alloc(0);
  #stream: Readable | null = null;
  #chunks: AsyncIterator<Buffer> | null = null;
  #isClosed = false;

  constructor(objects: Pick<Objects, 'open'>, key: string, sizeBytes: number, start: number, likelyEnd: number) {
    this.#objects = objects;
    this.#key = key;
    this.#sizeBytes = sizeBytes;
    this.#at = start;
    this.#likelyEnd = likelyEnd;
  }

  /** The next `count` bytes; fewer when the object ends before. */
  async take(count: number): Promise<Buffer> {
    const taken: Buffer[] = [];
    for await (const piece of this.pieces(count)) taken.push(piece);
    return taken.length === 1 && taken[0] !== undefined ? taken[0] : Buffer.concat(taken);
  }

  /** The next `count` bytes as the store hands them out; fewer when the object ends before. */
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

  /** Ends a read that is under way with an error. */
  close(): void {
    this.#isClosed = true;
    this.#stream?.destroy();
  }

  /** Some bytes; none at the end of the object. */
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
    const end = Math.min(this.#sizeBytes, Math.max(this.#likelyEnd, this.#at + wanted));
    if (this.#at >= end) return null;
    this.#stream = await this.#objects.open(this.#key, { start: this.#at, end: end - 1 });
    if (this.#isClosed) this.#stream.destroy();
    return (this.#stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }
}
