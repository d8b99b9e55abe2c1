import { createHash, type Hash } from 'node:crypto';
import type { Body } from './requests.ts';

/** Bytes that are gathered, and summed as they come in, until there are enough to be sent together. */
export class Part {
  readonly #maxBytes: number;
  readonly #hash: Hash | null;
  readonly #pieces: Buffer[] = [];
  #sizeBytes = 0;

  constructor(maxBytes: number, isSummed: boolean) {
    this.#maxBytes = maxBytes;
    this.#hash = isSummed ? createHash('sha256') : null;
  }

  get isFull(): boolean {
    return this.#sizeBytes === this.#maxBytes;
  }

  /** Takes what there is room for and returns the rest. */
  add(bytes: Buffer): Buffer {
    const taken = bytes.subarray(0, this.#maxBytes - this.#sizeBytes);
    if (taken.length > 0) {
      this.#pieces.push(taken);
      this.#hash?.update(taken);
      this.#sizeBytes += taken.length;
    }
    return bytes.subarray(taken.length);
  }

  /** Once, in the end. */
  body(): Body {
    return { pieces: this.#pieces, sizeBytes: this.#sizeBytes, sha256: this.#hash?.digest('hex') ?? '' };
  }
}
