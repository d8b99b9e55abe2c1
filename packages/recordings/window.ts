import type { Source } from './recording.ts';

const STREAM_PIECE = 65_536;

/** The bytes of a source read in order, a stretch at a time: `bytes` is what lies ahead and is already here. */
export class Window {
  /** What lies ahead. Good until the next call of `has` or `skip`. */
  bytes: Uint8Array = new Uint8Array(0);
  /** Where `bytes` begins in the source. */
  offset: number;
  readonly #end: number;
  readonly #source: Source;
  /** Null where the source is read by ranges. */
  readonly #stream: AsyncIterator<Uint8Array> | null;
  readonly #pieceBytes: number;
  #arrived: number;
  #ended = false;

  /**
   * Reads from `start` to before `end`; nothing behind `end` is ever seen. With `rangeBytes` it is read by ranges of
   * that size as they are needed, and what is skipped is not read at all.
   */
  constructor(source: Source, options: { start?: number; end?: number; rangeBytes?: number } = {}) {
    const { start = 0, end = source.sizeBytes, rangeBytes } = options;
    this.offset = start;
    this.#source = source;
    this.#arrived = start;
    this.#end = end;
    this.#stream = rangeBytes === undefined ? source.stream(start)[Symbol.asyncIterator]() : null;
    this.#pieceBytes = rangeBytes ?? STREAM_PIECE;
  }

  /** Brings at least `count` bytes into `bytes`; false when the source ends before. */
  async has(count: number): Promise<boolean> {
    if (this.bytes.length >= count) return true;
    const pieces = [this.bytes];
    let length = this.bytes.length;
    // A whole piece is awaited even when less would do: sources that trickle would be copied over and over.
    const wanted = Math.max(count, this.#pieceBytes);
    while (length < wanted && !this.#ended) {
      const piece = await this.#next();
      pieces.push(piece);
      length += piece.length;
    }
    if (length > this.bytes.length) this.bytes = joined(pieces, length);
    return length >= count;
  }

  /** Whether nothing comes after what `bytes` holds. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Goes on by `count` bytes, or to the end when there are fewer. */
  async skip(count: number): Promise<void> {
    while (count > this.bytes.length && !this.#ended) {
      count -= this.bytes.length;
      this.drop(this.bytes.length);
      if (this.#stream === null) {
        const jump = Math.min(count, this.#end - this.#arrived);
        this.#arrived += jump;
        this.offset += jump;
        return;
      }
      this.bytes = await this.#next();
    }
    this.drop(Math.min(count, this.bytes.length));
  }

  /** Goes on by `count` bytes of those that are here. */
  drop(count: number): void {
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

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
