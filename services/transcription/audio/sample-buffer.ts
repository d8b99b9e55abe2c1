/** The latest samples of one channel, addressed by their position in the recording. */
export class SampleBuffer {
  #samples = new Float32Array(65_536);
  #first = 0;
  #length = 0;

  /** The position after the last sample. */
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

  /** A copy of the samples from `start` to before `end`, as far as they are in the buffer. */
  copy(start: number, end: number): Float32Array {
    return this.#samples.slice(this.#indexOf(start), this.#indexOf(end));
  }

  /** Like `copy` but without copying; valid until the next `append` or `discard`. */
  view(start: number, end: number): Float32Array {
    return this.#samples.subarray(this.#indexOf(start), this.#indexOf(end));
  }

  /** Releases the samples before a position. */
  discard(before: number): void {
    const discarded = this.#indexOf(before);
    // Moving the rest for a few samples costs more than keeping them.
    if (discarded < 16_384) return;
    this.#samples.copyWithin(0, discarded, this.#length);
    this.#first += discarded;
    this.#length -= discarded;
  }

  #indexOf(position: number): number {
    return Math.min(Math.max(Math.round(position) - this.#first, 0), this.#length);
  }
}

/** The power of the samples: 1 at full scale, 0 for none. Its square root is the loudness (RMS). */
export function meanSquare(samples: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < samples.length; at++) sum += samples[at]! * samples[at]!;
  return samples.length === 0 ? 0 : sum / samples.length;
}
