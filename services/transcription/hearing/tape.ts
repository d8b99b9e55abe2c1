/** The latest samples of one channel, found by where they stand in the recording. */
export class Tape {
  #samples = new Float32Array(65_536);
  #first = 0;
  #length = 0;

  /** One past the last sample. */
  get end(): number {
    return this.#first + this.#length;
  }

  append(samples: Float32Array): void {
    if (this.#length + samples.length > this.#samples.length) {
      const larger = new Float32Array(2 * (this.#length + samples.length));
      larger.set(this.#samples.subarray(0, this.#length));
      this.#samples = larger;
    }
    this.#samples.set(samples, this.#length);
    this.#length += samples.length;
  }

  /** Samples from `start` to before `end`, as far as they are there. A copy. */
  cut(start: number, end: number): Float32Array {
    return this.#samples.slice(this.#at(start), this.#at(end));
  }

  /** The same without a copy, valid until the next `append` or `forget`. */
  look(start: number, end: number): Float32Array {
    return this.#samples.subarray(this.#at(start), this.#at(end));
  }

  /** Lets go of what stands before. */
  forget(before: number): void {
    const dropped = this.#at(before);
    // Moving a little at a time would cost more than keeping it.
    if (dropped < 16_384) return;
    this.#samples.copyWithin(0, dropped, this.#length);
    this.#first += dropped;
    this.#length -= dropped;
  }

  #at(position: number): number {
    return Math.min(Math.max(Math.round(position) - this.#first, 0), this.#length);
  }
}
