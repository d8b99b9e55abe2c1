import { HEARING_RATE } from '../engine.ts';
import { meanSquare } from './mean-square.ts';

const STEP = HEARING_RATE / 4;
/** Root mean square of the loud parts, under which a recording is made louder: 30 dB under full scale. */
const LOUD_ENOUGH = 0.03;
/** 24 dB. More would make voices of noise. */
const MOST_GAIN = 16;
/** In a minute what was loud counts for half. */
const FADES = 0.5 ** (1 / (60 * 4));

/**
 * Makes quiet recordings loud enough to be heard: speech is missed from 40 dB under full scale on. Both channels get the
 * same gain, so that what is faint in one beside the other, an echo, stays so.
 */
export class Loudness {
  #loud = 0;

  /** Changes the samples in place. */
  raise(left: Float32Array, right: Float32Array): void {
    for (let at = 0; at < left.length; at += STEP) {
      const parts = [left.subarray(at, at + STEP), right.subarray(at, at + STEP)];
      this.#loud = Math.max(this.#loud * FADES, ...parts.map((part) => Math.sqrt(meanSquare(part))));
      const gain = Math.min(LOUD_ENOUGH / this.#loud, MOST_GAIN);
      if (gain > 1 && this.#loud > 0) for (const part of parts) amplify(part, gain);
    }
  }
}

function amplify(samples: Float32Array, gain: number): void {
  for (let at = 0; at < samples.length; at++) samples[at] = Math.max(-1, Math.min(1, samples[at]! * gain));
}
