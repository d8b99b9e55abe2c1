import type { Samples } from '@call-analysis/recordings';

/** The loudness of a recording over time, to draw it. */
export interface Waveform {
  /** Seconds. */
  readonly duration: number;
  readonly peaksPerSecond: number;
  /** For each channel the largest amplitude of each span, from 0 to 100. */
  readonly channels: readonly (readonly number[])[];
}

const MOST_PER_SECOND = 20;
/** A screen is no wider, and an hour is no larger than a minute to send. */
const MOST_PEAKS = 4_000;
const FULL_SCALE = 100;

/** Measures the peaks of samples as they are decoded, in memory that does not grow with the recording. */
export class Peaks {
  readonly #spanFrames: number;
  readonly #sampleRate: number;
  readonly #channels: number[][];
  readonly #loudest: number[];
  #framesInSpan = 0;
  #frames = 0;

  constructor(recording: { readonly sampleRate: number; readonly channels: number; readonly duration: number }) {
    const perSecond = Math.min(MOST_PER_SECOND, MOST_PEAKS / recording.duration);
    this.#sampleRate = recording.sampleRate;
    this.#spanFrames = Math.max(1, Math.round(recording.sampleRate / perSecond));
    this.#channels = Array.from({ length: recording.channels }, () => []);
    this.#loudest = Array.from({ length: recording.channels }, () => 0);
  }

  add({ channels }: Samples): void {
    const length = channels[0]?.length ?? 0;
    for (let from = 0; from < length;) {
      const to = Math.min(length, from + this.#spanFrames - this.#framesInSpan);
      for (const [index, samples] of channels.entries()) {
        let loudest = this.#loudest[index] ?? 0;
        for (let at = from; at < to; at++) loudest = Math.max(loudest, Math.abs(samples[at]!));
        this.#loudest[index] = loudest;
      }
      this.#framesInSpan += to - from;
      from = to;
      if (this.#framesInSpan === this.#spanFrames) this.#endSpan();
    }
    this.#frames += length;
  }

  /** Call once, after the last samples. */
  end(): Waveform {
    if (this.#framesInSpan > 0) this.#endSpan();
    return {
      duration: this.#frames / this.#sampleRate,
      peaksPerSecond: this.#sampleRate / this.#spanFrames,
      channels: this.#channels,
    };
  }

  #endSpan(): void {
    for (const [index, loudest] of this.#loudest.entries()) {
      this.#channels[index]?.push(Math.min(FULL_SCALE, Math.round(loudest * FULL_SCALE)));
      this.#loudest[index] = 0;
    }
    this.#framesInSpan = 0;
  }
}
