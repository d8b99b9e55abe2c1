import type { Source } from '../recording.ts';

const STREAM_PIECE_BYTES = 65_536;

/** Reads a source in order through a buffer: `bytes` are the bytes ahead that have already arrived. */
export class BufferedReader {
  /** The buffered bytes ahead. Valid until the next call of `fill` or `skip`. */
  bytes: Uint8Array = new Uint8Array(0);
  /** Offset of `bytes` in the source. */
  offset: number;
  readonly #end: number;
  readonly #source: Source;
  /** Null when the source is read in ranges. */
  readonly #stream: AsyncIterator<Uint8Array> | null;
  readonly #pieceBytes: number;
  /** Offset up to which bytes have arrived. */
  #arrived: number;
  #ended = false;

  /**
   * Reads from `start` up to but not including `end`. With `rangeBytes` the source is read on demand in ranges of that
   * size, and skipped bytes are not read at all.
   */
  constructor(source: Source, options: { start?: number; end?: number; rangeBytes?: number } = {}) {
    const { start = 0, end = source.sizeBytes, rangeBytes } = options;
    this.offset = start;
    this.#source = source;
    this.#arrived = start;
    this.#end = end;
    this.#stream = rangeBytes === undefined ? source.stream(start)[Symbol.asyncIterator]() : null;
    this.#pieceBytes = rangeBytes ?? STREAM_PIECE_BYTES;
  }

  /** Buffers at least `count` bytes; false when the source ends earlier. */
  async fill(count: number): Promise<boolean> {
    if (this.bytes.length >= count) return true;
    const pieces = [this.bytes];
    let length = this.bytes.length;
    // Waits for a full piece even when fewer bytes would do: a source of tiny pieces would be copied again and again.
    const wanted = Math.max(count, this.#pieceBytes);
    while (length < wanted && !this.#ended) {
      const piece = await this.#next();
      pieces.push(piece);
      length += piece.length;
    }
    if (length > this.bytes.length) this.bytes = Buffer.concat(pieces, length);
    return length >= count;
  }

  /** Whether nothing follows the buffered bytes. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Moves on by `count` bytes, or to the end when fewer remain. */
  async skip(count: number): Promise<void> {
    while (count > this.bytes.length && !this.#ended) {
      count -= this.bytes.length;
      this.consume(this.bytes.length);
      if (this.#stream === null) {
        const jump = Math.min(count, this.#end - this.#arrived);
        this.#arrived += jump;
        this.offset += jump;
        return;
      }
      this.bytes = await this.#next();
    }
    this.consume(Math.min(count, this.bytes.length));
  }

  /** Moves on by `count` buffered bytes. */
  consume(count: number): void {
    this.bytes = this.bytes.subarray(count);
    this.offset += count;
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#stream?.return?.();
  }

  async #next(): Promise<Uint8Array> {
    const left = this.#end - this.#arrived;
    const piece = left > 0 ? await this.#read(left) : null;
    if (piece === null) {
      this.#ended = true;
      return new Uint8Array(0);
    }
    this.#arrived += piece.length;
    return piece;
  }

  async #read(left: number): Promise<Uint8Array | null> {
    if (this.#stream === null) {
      const piece = await this.#source.read(this.#arrived, this.#arrived + Math.min(left, this.#pieceBytes));
      return piece.length === 0 ? null : piece;
    }
    const { done, value } = await this.#stream.next();
    if (done === true) return null;
    return value.length > left ? value.subarray(0, left) : value;
  }
}
