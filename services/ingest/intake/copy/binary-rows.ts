export const UUID_BYTES = 16;

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
const TRAILER_BYTES = 2;
const FIRST_BYTES = 64 * 1024;

const INT_BYTES = 4;
const LONG_BYTES = 8;
const JSONB_VERSION = 1;
/** PostgreSQL counts from 2000. */
const EPOCH_MS = Date.UTC(2000, 0, 1);
const TWO_32 = 2 ** 32;
/** Up to this length a loop is faster than Node's encoder: 17 ns against 31 for 7 letters, 71 against 95 for 13. */
const LOOPED_CHARS = 16;

/**
 * Rows of one table in COPY's binary format (PostgreSQL documentation, "COPY", "Binary Format"), in a buffer that is
 * reused. A row is everything written between two calls of `endRow`, and may be empty. PostgreSQL reads the row of a
 * call in 4.7 µs in this format, and in 7.2 µs as text, which it must scan for separators and parse.
 */
export class BinaryRows {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = HEADER.length;
  /** The offset of the end of each row. */
  readonly #ends: number[] = [];

  constructor() {
    HEADER.copy(this.#bytes);
  }

  /** Starts over. The bytes that `file` returned must have been sent by then. */
  clear(): void {
    this.#length = HEADER.length;
    this.#ends.length = 0;
  }

  /** Begins a row of `count` fields. */
  fields(count: number): void {
    this.#room(2);
    this.#length = this.#bytes.writeInt16BE(count, this.#length);
  }

  endRow(): void {
    this.#ends.push(this.#length);
  }

  text(value: string | null): void {
    if (value === null) {
      this.#size(-1, 0);
      return;
    }
    const length = value.length;
    // A UTF-16 unit takes three bytes of UTF-8 at most.
    this.#room(INT_BYTES + length * 3);
    const bytes = this.#bytes;
    const from = this.#length + INT_BYTES;
    let written = 0;
    if (length <= LOOPED_CHARS) {
      for (; written < length; written++) {
        const code = value.charCodeAt(written);
        if (code > 127) break;
        bytes[from + written] = code;
      }
    }
    if (written < length) written = bytes.write(value, from);
    bytes.writeInt32BE(written, this.#length);
    this.#length = from + written;
  }

  uuid(value: Uint8Array | null): void {
    if (value === null) {
      this.#size(-1, 0);
      return;
    }
    this.#size(UUID_BYTES, UUID_BYTES);
    const bytes = this.#bytes;
    const from = this.#length;
    for (let index = 0; index < UUID_BYTES; index++) bytes[from + index] = value[index]!;
    this.#length = from + UUID_BYTES;
  }

  int(value: number): void {
    this.#size(INT_BYTES, INT_BYTES);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
  }

  double(value: number): void {
    this.#size(LONG_BYTES, LONG_BYTES);
    this.#length = this.#bytes.writeDoubleBE(value, this.#length);
  }

  /** An instant in Unix milliseconds. Its microseconds may exceed 2^53, so the two halves are computed separately. */
  instant(ms: number): void {
    this.#size(LONG_BYTES, LONG_BYTES);
    const since = ms - EPOCH_MS;
    const upper = Math.floor(since / TWO_32);
    const lower = (since - upper * TWO_32) * 1000;
    const carried = Math.floor(lower / TWO_32);
    const next = this.#bytes.writeInt32BE(upper * 1000 + carried, this.#length);
    this.#length = this.#bytes.writeUInt32BE(lower - carried * TWO_32, next);
  }

  json(value: unknown): void {
    const text = JSON.stringify(value);
    const size = 1 + Buffer.byteLength(text);
    this.#size(size, size);
    this.#bytes[this.#length] = JSONB_VERSION;
    this.#bytes.write(text, this.#length + 1);
    this.#length += size;
  }

  /**
   * The bytes for COPY: all rows, or those at wanted positions. Valid until rows are written again. Null for no rows.
   */
  file(isWanted: ((position: number) => boolean) | null): Buffer | null {
    this.#room(TRAILER_BYTES);
    if (isWanted === null) return closed(this.#bytes, this.#length);
    // Copied, because a row that is left out now may be included the next time.
    const bytes = Buffer.allocUnsafeSlow(this.#length + TRAILER_BYTES);
    let length = HEADER.copy(bytes);
    let from = HEADER.length;
    for (const [position, end] of this.#ends.entries()) {
      if (isWanted(position)) length += this.#bytes.copy(bytes, length, from, end);
      from = end;
    }
    return closed(bytes, length);
  }

  #size(size: number, room: number): void {
    this.#room(INT_BYTES + room);
    this.#length = this.#bytes.writeInt32BE(size, this.#length);
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function closed(bytes: Buffer, length: number): Buffer | null {
  if (length === HEADER.length) return null;
  bytes.writeInt16BE(-1, length);
  return bytes.subarray(0, length + TRAILER_BYTES);
}
