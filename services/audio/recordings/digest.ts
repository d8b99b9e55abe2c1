import { createHash } from 'node:crypto';

/** Computes the SHA-256 and counts the bytes of a stream. */
export class Digest {
  readonly #hash = createHash('sha256');
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  add(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length;
    this.#hash.update(bytes);
  }

  async *of(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const bytes of pieces) {
      this.add(bytes);
      yield bytes;
    }
  }

  /** Call once, after the last bytes. */
  sha256(): Buffer {
    return this.#hash.digest();
  }
}
