/** Far above any signal that a sound encoder means; what a hostile one means must not grow to infinity. */
const BOUND = 1e6;

/** The number within the bound; 0 for what is no number. */
export function bounded(value: number): number {
  if (value > BOUND) return BOUND;
  if (value < -BOUND) return -BOUND;
  return value === value ? value : 0;
}

/** The root mean square, never quite 0. */
export function rootMeanSquare(samples: Float64Array, start: number, count: number): number {
  let sum = 0;
  for (let i = start; i < start + count; i += 1) sum += samples[i]! * samples[i]!;
  return Math.sqrt(0.1 + sum / count);
}

/** The vocal tract: 1 / (1 + a1 z^-1 + … ). Its memory outlives changes of the coefficients. */
export class SynthesisFilter {
  readonly #memory: Float64Array;

  constructor(order: number) {
    this.#memory = new Float64Array(order);
  }

  /** `count` samples of `input` from `from` go to `output` at `to`; both may be the same array. */
  run(
    coefficients: Float64Array,
    input: Float64Array,
    from: number,
    output: Float64Array,
    to: number,
    count: number,
  ): void {
    const memory = this.#memory;
    const last = memory.length - 1;
    for (let i = 0; i < count; i += 1) {
      const sample = bounded(input[from + i]! + memory[0]!);
      for (let tap = 0; tap < last; tap += 1) memory[tap] = memory[tap + 1]! - coefficients[tap]! * sample;
      memory[last] = -coefficients[last]! * sample;
      output[to + i] = sample;
    }
  }
}

/** Takes away what lies below speech. In place. */
export class HighPass {
  static readonly NARROW = { zeros: [0.96446, -1.92879, 0.96446], poles: [-1.92683, 0.93071] } as const;
  static readonly WIDE = { zeros: [0.98645, -1.97277, 0.98645], poles: [-1.97226, 0.97332] } as const;

  readonly #shape: typeof HighPass.NARROW | typeof HighPass.WIDE;
  #first = 0;
  #second = 0;

  constructor(shape: typeof HighPass.NARROW | typeof HighPass.WIDE) {
    this.#shape = shape;
  }

  run(samples: Float64Array): void {
    const { zeros, poles } = this.#shape;
    for (let i = 0; i < samples.length; i += 1) {
      const input = samples[i]!;
      const output = zeros[0] * input + this.#first;
      this.#first = this.#second + zeros[1] * input - poles[0] * output;
      this.#second = zeros[2] * input - poles[1] * output;
      samples[i] = output;
    }
  }
}

/** The first half of the 64 taps; the other mirrors it. */
const MERGE_TAPS = [
  3.596189e-5, -0.0001123515, -0.0001104587, 0.0002790277, 0.0002298438, -0.0005953563, -0.0003823631, 0.00113826,
  0.0005308539, -0.001986177, -0.0006243724, 0.003235877, 0.0005743159, -0.004989147, -0.0002584767, 0.007367171,
  -0.0004857935, -0.01050689, 0.001894714, 0.01459396, -0.004313674, -0.01994365, 0.00828756, 0.02716055, -0.01485397,
  -0.03764973, 0.026447, 0.05543245, -0.05095487, -0.09779096, 0.1382363, 0.4600981,
];
const PHASE_TAPS = MERGE_TAPS.length;
const taps = [...MERGE_TAPS, ...MERGE_TAPS.toReversed()];
const EVEN_TAPS = Float64Array.from({ length: PHASE_TAPS }, (_, i) => 2 * taps[2 * i]!);
const ODD_TAPS = Float64Array.from({ length: PHASE_TAPS }, (_, i) => 2 * taps[2 * i + 1]!);

/** Makes one signal of twice the rate from a low and a high band: a quadrature mirror filter bank. */
export class BandMerger {
  readonly #frameSize: number;
  /** The last samples of the frame before, then this frame's. */
  readonly #differences: Float64Array;
  readonly #sums: Float64Array;

  constructor(frameSize: number) {
    this.#frameSize = frameSize;
    this.#differences = new Float64Array(PHASE_TAPS - 1 + frameSize);
    this.#sums = new Float64Array(PHASE_TAPS - 1 + frameSize);
  }

  run(low: Float64Array, high: Float64Array, output: Float64Array): void {
    const size = this.#frameSize;
    const differences = this.#differences;
    const sums = this.#sums;
    const past = PHASE_TAPS - 1;
    differences.copyWithin(0, size);
    sums.copyWithin(0, size);
    for (let i = 0; i < size; i += 1) {
      differences[past + i] = low[i]! - high[i]!;
      sums[past + i] = low[i]! + high[i]!;
    }
    for (let i = 0; i < size; i += 1) {
      let even = 0;
      let odd = 0;
      for (let tap = 0; tap < PHASE_TAPS; tap += 1) {
        even += EVEN_TAPS[tap]! * differences[past + i - tap]!;
        odd += ODD_TAPS[tap]! * sums[past + i - tap]!;
      }
      output[2 * i] = even;
      output[2 * i + 1] = odd;
    }
  }
}
