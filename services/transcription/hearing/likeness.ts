import { Fourier } from './fourier.ts';

/** How well a pattern is found in a longer stretch. */
export interface Likeness {
  /** Correlation where they fit best, 0 to 1, whatever the sign. */
  readonly correlation: number;
  /** Where in the stretch the pattern begins there. */
  readonly at: number;
  /** Energy of the pattern over the energy of what it fits. */
  readonly gain: number;
}

/** Less energy than this share of the stretch's loudest part is not compared: anything fits nothing. */
const LEAST_SHARE = 0.01;

/** Finds patterns in stretches by correlation, all places at once. */
export class LikenessFinder {
  readonly #fourier: Fourier;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  readonly #productReal: Float64Array;
  readonly #productImaginary: Float64Array;

  /** `size`: the longest stretch, a power of two. */
  constructor(size: number) {
    this.#fourier = new Fourier(size);
    this.#real = new Float64Array(size);
    this.#imaginary = new Float64Array(size);
    this.#productReal = new Float64Array(size);
    this.#productImaginary = new Float64Array(size);
  }

  find(pattern: Float32Array, stretch: Float32Array): Likeness {
    this.#correlate(pattern, stretch);
    const places = stretch.length - pattern.length + 1;
    const patternEnergy = energy(pattern);
    let windowEnergy = energy(stretch.subarray(0, pattern.length));
    const energies = new Float64Array(places);
    for (let at = 0; at < places; at++) {
      energies[at] = windowEnergy;
      windowEnergy += (stretch[at + pattern.length] ?? 0) ** 2 - stretch[at]! ** 2;
    }
    const least = LEAST_SHARE * energies.reduce((most, each) => Math.max(most, each), 0);
    let best = 0;
    let bestAt = 0;
    for (let at = 0; at < places; at++) {
      const there = energies[at]!;
      if (there <= least) continue;
      const square = this.#productReal[at]! ** 2 / (there * patternEnergy);
      if (square > best) {
        best = square;
        bestAt = at;
      }
    }
    const gain = best === 0 ? 0 : patternEnergy / energies[bestAt]!;
    return { correlation: Math.min(Math.sqrt(best), 1), at: bestAt, gain };
  }

  /** Both are transformed at once, one as the real and one as the imaginary part. */
  #correlate(pattern: Float32Array, stretch: Float32Array): void {
    const { size } = this.#fourier;
    const real = this.#real.fill(0);
    const imaginary = this.#imaginary.fill(0);
    real.set(stretch);
    imaginary.set(pattern);
    this.#fourier.transform(real, imaginary);
    for (let at = 0; at < size; at++) {
      const mirror = (size - at) % size;
      const stretchReal = (real[at]! + real[mirror]!) / 2;
      const stretchImaginary = (imaginary[at]! - imaginary[mirror]!) / 2;
      const patternReal = (imaginary[at]! + imaginary[mirror]!) / 2;
      const patternImaginary = (real[mirror]! - real[at]!) / 2;
      this.#productReal[at] = stretchReal * patternReal + stretchImaginary * patternImaginary;
      this.#productImaginary[at] = stretchImaginary * patternReal - stretchReal * patternImaginary;
    }
    this.#fourier.transform(this.#productImaginary, this.#productReal);
    for (let at = 0; at < size; at++) this.#productReal[at] = this.#productReal[at]! / size;
  }
}

function energy(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum;
}
