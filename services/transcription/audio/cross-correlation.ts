import { FourierTransform } from './fourier.ts';

/** The best match of a pattern in a longer signal. */
export interface Match {
  /** Normalized correlation at the best position, 0 to 1, regardless of its sign. */
  readonly correlation: number;
  /** The position in the signal where the pattern begins. */
  readonly position: number;
  /** Energy of the pattern divided by the energy of the matching part of the signal. */
  readonly gain: number;
}

/** Parts with less energy than this share of the loudest part are not compared, because noise matches anything. */
const MIN_ENERGY_SHARE = 0.01;

/** Finds patterns in signals by cross-correlation, computed for all positions at the same time by Fourier transform. */
export class CrossCorrelator {
  readonly #fourier: FourierTransform;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  readonly #productReal: Float64Array;
  readonly #productImaginary: Float64Array;

  /** `size`: the length of the longest signal, a power of two. */
  constructor(size: number) {
    this.#fourier = new FourierTransform(size);
    this.#real = new Float64Array(size);
    this.#imaginary = new Float64Array(size);
    this.#productReal = new Float64Array(size);
    this.#productImaginary = new Float64Array(size);
  }

  bestMatch(pattern: Float32Array, signal: Float32Array): Match {
    this.#correlate(pattern, signal);
    const positions = signal.length - pattern.length + 1;
    const patternEnergy = energyOf(pattern);
    let windowEnergy = energyOf(signal.subarray(0, pattern.length));
    const energies = new Float64Array(positions);
    for (let at = 0; at < positions; at++) {
      energies[at] = windowEnergy;
      windowEnergy += (signal[at + pattern.length] ?? 0) ** 2 - signal[at]! ** 2;
    }
    const minEnergy = MIN_ENERGY_SHARE * energies.reduce((most, each) => Math.max(most, each), 0);
    let best = 0;
    let position = 0;
    for (let at = 0; at < positions; at++) {
      const energy = energies[at]!;
      if (energy <= minEnergy) continue;
      const square = this.#productReal[at]! ** 2 / (energy * patternEnergy);
      if (square > best) {
        best = square;
        position = at;
      }
    }
    const gain = best === 0 ? 0 : patternEnergy / energies[position]!;
    return { correlation: Math.min(Math.sqrt(best), 1), position, gain };
  }

  /** One transform serves both: the signal is its real part and the pattern its imaginary part. */
  #correlate(pattern: Float32Array, signal: Float32Array): void {
    const { size } = this.#fourier;
    const real = this.#real.fill(0);
    const imaginary = this.#imaginary.fill(0);
    real.set(signal);
    imaginary.set(pattern);
    this.#fourier.transform(real, imaginary);
    for (let at = 0; at < size; at++) {
      const mirror = (size - at) % size;
      const signalReal = (real[at]! + real[mirror]!) / 2;
      const signalImaginary = (imaginary[at]! - imaginary[mirror]!) / 2;
      const patternReal = (imaginary[at]! + imaginary[mirror]!) / 2;
      const patternImaginary = (real[mirror]! - real[at]!) / 2;
      this.#productReal[at] = signalReal * patternReal + signalImaginary * patternImaginary;
      this.#productImaginary[at] = signalImaginary * patternReal - signalReal * patternImaginary;
    }
    this.#fourier.transform(this.#productImaginary, this.#productReal);
    for (let at = 0; at < size; at++) this.#productReal[at] = this.#productReal[at]! / size;
  }
}

function energyOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return sum;
}
