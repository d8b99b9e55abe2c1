import { unreadable } from './faults.ts';
import type { Source } from './recording.ts';

/** Holds the usual header whole. */
const FIRST_READ_BYTES = 4096;
/** A chain of chunks costs one such read for each jump, so that it ends after some hundred of them. */
const NEXT_READ_BYTES = 1024;
const MOST_BYTES = 192 * 1024;

/** Reads headers by a few small ranged reads; whoever makes it read more than any honest header needs is stopped. */
export class HeaderReader {
  readonly sizeBytes: number;
  readonly #source: Source;
  #window: Uint8Array = new Uint8Array(0);
  #windowStart = 0;
  #readBytes = 0;

  constructor(source: Source) {
    this.#source = source;
    this.sizeBytes = source.sizeBytes;
  }

  /** Some bytes from `start` on; fewer where the file ends. */
  async read(start: number, length: number): Promise<DataView<ArrayBufferLike>> {
    const end = Math.min(start + length, this.sizeBytes);
    if (end <= start) return new DataView(new ArrayBuffer(0));
    if (start < this.#windowStart || end > this.#windowStart + this.#window.length) await this.#move(start, end);
    const at = this.#window.byteOffset + start - this.#windowStart;
    const held = this.#windowStart + this.#window.length - start;
    return new DataView(this.#window.buffer, at, Math.max(0, Math.min(end - start, held)));
  }

  async #move(start: number, end: number): Promise<void> {
    const least = this.#readBytes === 0 ? FIRST_READ_BYTES : NEXT_READ_BYTES;
    const until = Math.min(Math.max(end, start + least), this.sizeBytes);
    this.#readBytes += until - start;
    if (this.#readBytes > MOST_BYTES) throw unreadable('The headers of the recording do not come to an end.');
    this.#window = await this.#source.read(start, until);
    this.#windowStart = start;
  }
}

/** The four characters that name a chunk or a kind of file; empty where the view ends before. */
export function fourCharacters(view: DataView, at = 0): string {
  if (view.byteLength < at + 4) return '';
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}
