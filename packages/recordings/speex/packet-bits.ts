import { broken } from './broken.ts';

/** The bits of a packet, the highest of each byte first. Reading past the end is AUDIO_UNREADABLE. */
export class PacketBits {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length * 8 - this.#position;
  }

  /** An unsigned number of up to 16 bits. */
  take(count: number): number {
    if (count > this.remaining) throw broken('a packet ends inside a frame');
    let value = 0;
    for (const end = this.#position + count; this.#position < end; this.#position += 1) {
      value = (value << 1) | (((this.#bytes[this.#position >> 3] ?? 0) >> (7 - (this.#position & 7))) & 1);
    }
    return value;
  }

  /** The next bit, left in place. */
  peek(): number {
    const bit = this.take(1);
    this.#position -= 1;
    return bit;
  }

  skip(count: number): void {
    if (count > this.remaining) throw broken('a packet ends inside a frame');
    this.#position += count;
  }
}
