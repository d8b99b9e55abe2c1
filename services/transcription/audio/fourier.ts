/** In-place fast Fourier transforms of one size, a power of two. */
export class FourierTransform {
  readonly size: number;
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #swaps: Uint32Array;

  constructor(size: number) {
    this.size = size;
    this.#cos = Float64Array.from({ length: size / 2 }, (_, at) => Math.cos((2 * Math.PI * at) / size));
    this.#sin = Float64Array.from({ length: size / 2 }, (_, at) => Math.sin((2 * Math.PI * at) / size));
    const bits = Math.log2(size);
    const swaps: number[] = [];
    for (let at = 0; at < size; at++) {
      let mirrored = 0;
      for (let bit = 0; bit < bits; bit++) if ((at & (1 << bit)) !== 0) mirrored |= 1 << (bits - 1 - bit);
      if (mirrored > at) swaps.push(at, mirrored);
    }
    this.#swaps = Uint32Array.from(swaps);
  }

  /** The forward transform. Exchange both arguments for the inverse, which still has to be divided by the size. */
  transform(real: Float64Array, imaginary: Float64Array): void {
    for (let at = 0; at < this.#swaps.length; at += 2) {
      const a = this.#swaps[at]!;
      const b = this.#swaps[at + 1]!;
      const r = real[a]!;
      const i = imaginary[a]!;
      real[a] = real[b]!;
      imaginary[a] = imaginary[b]!;
      real[b] = r;
      imaginary[b] = i;
    }
    for (let half = 1; half < this.size; half *= 2) {
      const step = this.size / (2 * half);
      for (let from = 0; from < this.size; from += 2 * half) {
        for (let at = 0; at < half; at++) {
          const c = this.#cos[at * step]!;
          const s = this.#sin[at * step]!;
          const upper = from + at;
          const lower = upper + half;
          const r = real[lower]! * c + imaginary[lower]! * s;
          const i = imaginary[lower]! * c - real[lower]! * s;
          real[lower] = real[upper]! - r;
          imaginary[lower] = imaginary[upper]! - i;
          real[upper] = real[upper]! + r;
          imaginary[upper] = imaginary[upper]! + i;
        }
      }
    }
  }
}
