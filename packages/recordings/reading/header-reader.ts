import { unreadable } from '../faults.ts';
import type { Source } from '../recording.ts';

/** Covers a usual header in one read. */
const FIRST_READ_BYTES = 4096;
/** A chain of chunks costs one read of this size per jump, so MAX_BYTES ends the chain after about 200 jumps. */
const NEXT_READ_BYTES = 1024;
const MAX_BYTES = 192 * 1024;

/** Reads headers in a few small ranged reads. AUDIO_UNREADABLE when a file needs more than any valid header does. */
export class HeaderReader {
  readonly sizeBytes: number;
  readonly #source: Source;
  #buffer: Uint8Array = new Uint8Array(0);
  #bufferStart = 0;
  #readBytes = 0;

  constructor(source: Source) {
    this.#source = source;
    this.sizeBytes = source.sizeBytes;
  }

  /** The bytes from `start` on; fewer where the file ends. */
  async read(start: number, length: number): Promise<DataView<ArrayBufferLike>> {
    const end = Math.min(start + length, this.sizeBytes);
    if (end <= start) return new DataView(new ArrayBuffer(0));
    if (start < this.#bufferStart || end > this.#bufferStart + this.#buffer.length) await this.#load(start, end);
    const offset = this.#buffer.byteOffset + start - this.#bufferStart;
    const available = this.#bufferStart + this.#buffer.length - start;
    return new DataView(this.#buffer.buffer, offset, Math.max(0, Math.min(end - start, available)));
  }

  async #load(start: number, end: number): Promise<void> {
    const minimum = this.#readBytes === 0 ? FIRST_READ_BYTES : NEXT_READ_BYTES;
    const until = Math.min(Math.max(end, start + minimum), this.sizeBytes);
    this.#readBytes += until - start;
    if (this.#readBytes > MAX_BYTES) throw unreadable('The headers of the recording do not come to an end.');
    this.#buffer = await this.#source.read(start, until);
    this.#bufferStart = start;
  }
}
