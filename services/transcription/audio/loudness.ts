import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { meanSquare } from './mean-square.ts';

const STEP = SAMPLE_RATE_HZ / 4;
/** RMS of the loud parts, 30 dB under full scale. Quieter recordings are amplified. */
const TARGET_RMS = 0.03;
/** 24 dB. More would turn noise into voices. */
const MAX_GAIN = 16;
/** After a minute a loud part counts half. */
const DECAY = 0.5 ** (1 / (60 * 4));

/**
 * Amplifies quiet recordings: engines miss speech from 40 dB under full scale on. Both channels get the same gain, so that
 * an echo stays weaker than the speech in the other channel.
 */
export class Loudness {
  #loud = 0;

  /** Changes the samples in place. */
  raise(left: Float32Array, right: Float32Array): void {
    for (let at = 0; at < left.length; at += STEP) {
      const parts = [left.subarray(at, at + STEP), right.subarray(at, at + STEP)];
      this.#loud = Math.max(this.#loud * DECAY, ...parts.map((part) => Math.sqrt(meanSquare(part))));
      const gain = Math.min(TARGET_RMS / this.#loud, MAX_GAIN);
      if (gain > 1 && this.#loud > 0) for (const part of parts) amplify(part, gain);
    }
  }
}

function amplify(samples: Float32Array, gain: number): void {
  for (let at = 0; at < samples.length; at++) samples[at] = Math.max(-1, Math.min(1, samples[at]! * gain));
}
