import { createHash, type Hash } from 'node:crypto';
import type { Body } from './requests.ts';

/** Collects and hashes bytes until there are enough for a request. */
export class Part {
  readonly #maxBytes: number;
  readonly #hash: Hash | null;
  readonly #pieces: Buffer[] = [];
  #sizeBytes = 0;

  constructor(maxBytes: number, isHashed: boolean) {
    this.#maxBytes = maxBytes;
    this.#hash = isHashed ? createHash('sha256') : null;
  }

  get isFull(): boolean {
    return this.#sizeBytes === this.#maxBytes;
  }

  /** Adds as many bytes as fit and returns the rest. */
  add(bytes: Buffer): Buffer {
    const taken = bytes.subarray(0, this.#maxBytes - this.#sizeBytes);
    if (taken.length > 0) {
      this.#pieces.push(taken);
      this.#hash?.update(taken);
      this.#sizeBytes += taken.length;
    }
    return bytes.subarray(taken.length);
  }

  /** Called once, at the end. */
  body(): Body {
    return { pieces: this.#pieces, sizeBytes: this.#sizeBytes, sha256: this.#hash?.digest('hex') ?? '' };
  }
}
