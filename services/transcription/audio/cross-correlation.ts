import { FourierTransform } from './fourier.ts';

/** How well a signal matches an equally long one. */
export interface Match {
  /** Normalized correlation, 0 to 1, regardless of its sign. */
  readonly correlation: number;
  /** Energy of the other signal divided by the energy of this one. */
  readonly ratio: number;
}

export function compare(signal: Float32Array, other: Float32Array): Match {
  let [product, energy, otherEnergy] = [0, 0, 0];
  for (let at = 0; at < signal.length; at++) {
    const [a, b] = [signal[at]!, other[at]!];
    product += a * b;
    energy += a * a;
    otherEnergy += b * b;
  }
  if (product === 0) return { correlation: 0, ratio: 0 };
  return { correlation: Math.abs(product) / Math.sqrt(energy * otherEnergy), ratio: otherEnergy / energy };
}

/** Finds the delays between two signals by cross-correlation, computed for all of them at once by Fourier transform. */
export class CrossCorrelator {
  readonly #fourier: FourierTransform;
  readonly #real: Float64Array;
  readonly #imaginary: Float64Array;
  readonly #productReal: Float64Array;
  readonly #productImaginary: Float64Array;

  /** `size`: the length of a signal and the longest delay together at most, a power of two. */
  constructor(size: number) {
    this.#fourier = new FourierTransform(size);
    this.#real = new Float64Array(size);
    this.#imaginary = new Float64Array(size);
    this.#productReal = new Float64Array(size);
    this.#productImaginary = new Float64Array(size);
  }

  /**
   * The likeliest delays, `count` at most, of which each is a peak of the correlation, regardless of its sign. A delay is
   * by how many samples the first signal is later, from `-longest` to `longest`.
   */
  delays(first: Float32Array, second: Float32Array, longest: number, count: number): number[] {
    this.#correlate(first, second);
    const product = this.#productReal;
    const heights = new Float64Array(2 * longest + 1);
    heights.set(product.subarray(product.length - longest));
    heights.set(product.subarray(0, longest + 1), longest);
    for (let at = 0; at < heights.length; at++) heights[at] = Math.abs(heights[at]!);
    const peaks: { delay: number; height: number }[] = [];
    let lowest = 0;
    for (let at = 0; at < heights.length; at++) {
      const height = heights[at]!;
      if (height <= lowest || height < (heights[at - 1] ?? 0) || height < (heights[at + 1] ?? 0)) continue;
      peaks.splice(peaks.findLastIndex((peak) => peak.height >= height) + 1, 0, { delay: at - longest, height });
      if (peaks.length > count) peaks.pop();
      if (peaks.length === count) lowest = peaks[count - 1]!.height;
    }
    return peaks.map(({ delay }) => delay);
  }

  /** One transform serves both signals: the first is its real part and the second its imaginary part. */
  #correlate(first: Float32Array, second: Float32Array): void {
    const { size } = this.#fourier;
    const real = this.#real.fill(0);
    const imaginary = this.#imaginary.fill(0);
    real.set(first);
    imaginary.set(second);
    this.#fourier.transform(real, imaginary);
    for (let at = 0; at < size; at++) {
      const mirror = (size - at) % size;
      const firstReal = (real[at]! + real[mirror]!) / 2;
      const firstImaginary = (imaginary[at]! - imaginary[mirror]!) / 2;
      const secondReal = (imaginary[at]! + imaginary[mirror]!) / 2;
      const secondImaginary = (real[mirror]! - real[at]!) / 2;
      this.#productReal[at] = firstReal * secondReal + firstImaginary * secondImaginary;
      this.#productImaginary[at] = firstImaginary * secondReal - firstReal * secondImaginary;
    }
    this.#fourier.transform(this.#productImaginary, this.#productReal);
  }
}
