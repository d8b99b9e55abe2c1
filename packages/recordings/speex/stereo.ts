import type { PacketBits } from './packet-bits.ts';

/** Energy of the sum over the sum of energies: 1/4 when the sides have nothing in common, 1/2 when they are alike. */
const COHERENCES = [0.25, 0.315, 0.397, 0.5] as const;
/** How much of the old gain each sample keeps, so that a change makes no click. */
const KEPT = 0.98;

/** Intensity stereo: one signal, and a balance that in-band requests set. */
export class IntensityStereo {
  /** Energy of left over right. */
  #balance = 1;
  #coherence: number = COHERENCES[3];
  #left = 1;
  #right = 1;

  /** The body of in-band request 9, 8 bits. */
  take(bits: PacketBits): void {
    const sign = bits.take(1) === 1 ? -1 : 1;
    this.#balance = Math.exp(sign * 0.25 * bits.take(5));
    this.#coherence = COHERENCES[bits.take(2)]!;
  }

  /** One frame to both sides; `left` may be `mono`. The gains move from its end to its start, as in libspeex. */
  spread(mono: Float32Array, left: Float32Array, right: Float32Array): void {
    const rightGain = 1 / Math.sqrt(this.#coherence * (1 + this.#balance));
    const leftGain = Math.sqrt(this.#balance) * rightGain;
    for (let i = mono.length - 1; i >= 0; i -= 1) {
      this.#left = KEPT * this.#left + (1 - KEPT) * leftGain;
      this.#right = KEPT * this.#right + (1 - KEPT) * rightGain;
      const sample = mono[i]!;
      left[i] = clip(sample * this.#left);
      right[i] = clip(sample * this.#right);
    }
  }
}

/** Within what 16 bits can say, as the format's own decoder answers. */
export function clip(sample: number): number {
  return Math.max(-1, Math.min(sample, 32_767 / 32_768));
}
