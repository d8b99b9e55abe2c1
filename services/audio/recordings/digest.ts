import { createHash } from 'node:crypto';

/** Takes the SHA-256 and the number of bytes that pass by. */
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

  /** Once, in the end. */
  sha256(): Buffer {
    return this.#hash.digest();
  }
}
