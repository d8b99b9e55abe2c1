import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { FourierTransform } from './fourier.ts';
import { meanSquare } from './sample-buffer.ts';

const STEP = SAMPLE_RATE_HZ / 4;
/** RMS of the loud parts, 30 dB under full scale. Quieter recordings are amplified. */
const TARGET_RMS = 0.03;
/** 24 dB. More would turn noise into voices. */
const MAX_GAIN = 16;
/** After a minute a loud part counts half. */
const DECAY = 0.5 ** (1 / (60 * 4));

/**
 * Amplifies quiet recordings: engines miss speech from 40 dB under full scale on. Both channels get the same gain, so that
 * an echo stays weaker than the speech in the other channel. Tones say nothing about how loud voices are: after a key
 * tone at -20 dB a voice at -45 dB would not be amplified for minutes.
 */
export class Loudness {
  readonly #tones = [new Tones(), new Tones()];
  #loud = 0;

  /** Changes the samples in place. */
  raise(left: Float32Array, right: Float32Array): void {
    for (let at = 0; at < left.length; at += STEP) {
      const parts = [left.subarray(at, at + STEP), right.subarray(at, at + STEP)];
      const levels = parts.map((part) => Math.sqrt(meanSquare(part)));
      this.#loud *= DECAY;
      // Only what is louder than before needs a look.
      const louder = levels.map((level, side) =>
        level > this.#loud ? this.#tones[side]!.levelWithout(parts[side]!) : 0,
      );
      this.#loud = Math.max(this.#loud, ...louder);
      // Nothing is amplified beyond the target, tones neither.
      const loudest = Math.max(this.#loud, ...levels);
      const gain = Math.min(TARGET_RMS / loudest, MAX_GAIN);
      if (gain > 1 && loudest > 0) for (const part of parts) amplify(part, gain);
    }
  }
}

/** 16 ms. A key tone has at least 40 ms. */
const FRAME = 256;
/** With the window, a sine is in its own bin and two on each side. A key tone consists of two. */
const SINES = 2;
const AROUND = 2;
/** Of the energy of a frame. Vowels and nasals have less in two places, or not for long. */
const SHARE_OF_TONE = 0.98;
const WINDOW = Float64Array.from({ length: FRAME }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / FRAME));

const LEAST_FRAMES = 4;

/** Key tones, ringing tones and the like in one channel: two sines at most. */
class Tones {
  readonly #fourier = new FourierTransform(FRAME);
  readonly #real = new Float64Array(FRAME);
  readonly #imaginary = new Float64Array(FRAME);
  #endedInTone = false;

  /** RMS, with silence in the place of tones. A tone begins and ends within the frames next to it. */
  levelWithout(part: Float32Array): number {
    if (part.length < LEAST_FRAMES * FRAME) return Math.sqrt(meanSquare(part));
    const frames = Array.from({ length: Math.floor(part.length / FRAME) }, (_, index) =>
      part.subarray(index * FRAME, (index + 1) * FRAME),
    );
    const tones = frames.map((frame) => this.#isTone(frame));
    const voiced = frames.filter(
      (_, index) => !tones[index] && !(tones[index - 1] ?? this.#endedInTone) && tones[index + 1] === false,
    );
    this.#endedInTone = tones.at(-1) ?? false;
    return Math.sqrt(voiced.reduce((sum, frame) => sum + meanSquare(frame), 0) / (frames.length - 1));
  }

  #isTone(frame: Float32Array): boolean {
    for (let at = 0; at < FRAME; at++) this.#real[at] = frame[at]! * WINDOW[at]!;
    this.#imaginary.fill(0);
    this.#fourier.transform(this.#real, this.#imaginary);
    const energies = Array.from({ length: FRAME / 2 }, (_, bin) => this.#real[bin]! ** 2 + this.#imaginary[bin]! ** 2);
    const all = energies.reduce((sum, energy) => sum + energy);
    let ofSines = 0;
    for (let sine = 0; sine < SINES; sine++) {
      const peak = energies.indexOf(Math.max(...energies));
      for (let bin = Math.max(peak - AROUND, 0); bin <= peak + AROUND && bin < energies.length; bin++) {
        ofSines += energies[bin]!;
        energies[bin] = 0;
      }
    }
    return all > 0 && ofSines >= SHARE_OF_TONE * all;
  }
}

function amplify(samples: Float32Array, gain: number): void {
  for (let at = 0; at < samples.length; at++) samples[at] = Math.max(-1, Math.min(1, samples[at]! * gain));
}
