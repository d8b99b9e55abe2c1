import { HEARING_RATE } from '../engine.ts';
import { type Likeness, LikenessFinder } from './likeness.ts';
import { meanSquare } from './mean-square.ts';
import { Tape } from './tape.ts';

export type Side = 'left' | 'right';

/** Decisions are made for so much at a time. */
const FRAME = HEARING_RATE / 4;
/** Compared is one channel's half second around a frame with the other's, up to a quarter of a second off. */
const PATTERN = HEARING_RATE / 2;
const LAG = HEARING_RATE / 4;
/** Speech is recognised by its lower half; a quarter of the rate is compared in a tenth of the time. */
const THINNING = 4;
const STEP = HEARING_RATE / 50;

/** Mean squares. Below -66 dB of full scale nothing is there; below -55 dB nobody speaks. */
const NOTHING = 2.5e-7;
const SPEECH = 3e-6;
/** What is 25 dB under the loud parts says nothing about who recorded what. */
const UNDER_LOUD = 10 ** -2.5;
const LOUDNESS_FADES = 0.995;

/**
 * Correlations. Two voices at once reach 0.5 by chance, for vowels are alike; one voice on both channels stays over 0.9
 * until its noise is within 7 dB.
 */
const ECHO = 0.65;
const SAME = 0.8;
/** An echo is weaker than what it echoes by 6 dB at least. */
const ECHO_GAIN = 0.25;
/** The louder channel is the one to hear; it changes when the other is 3 dB louder. */
const LOUDER = 2;
/** A stretch that is 6 dB over what the echo should be is somebody speaking into it. */
const OVER_ECHO = 4;

/** The same sound on both channels: in so much of the speech, at about one difference of loudness, and not a great one. */
const SAME_SHARE = 0.85;
const STEADY_SHARE = 0.9;
const STEADY_DECIBELS = 4;
const MOST_DECIBELS = 12;
const LEAST_FRAMES = 4;

/**
 * Hears two channels together. What is on both, an echo of the other party or one recording on two channels, is left on
 * the one where it is louder and silenced on the other, so that nobody is heard twice; what somebody says into an echo
 * stays. Knows in the end whether both channels were one recording.
 */
export class Crosstalk {
  readonly #left = new Tape();
  readonly #right = new Tape();
  readonly #finder = new LikenessFinder(4096);
  #next = 0;
  #kept: Side = 'left';
  #loud = SPEECH;
  #spoken = 0;
  /** Frames with the same sound, by decibels that the left is over the right, from -40 to 40. */
  readonly #same = new Uint32Array(81);

  /** Takes equally many samples of both; gives what has been decided, which is up to half a second behind. */
  push(left: Float32Array, right: Float32Array): [Float32Array, Float32Array] {
    this.#left.append(left);
    this.#right.append(right);
    const frames = Math.floor((this.#left.end - LAG - PATTERN / 2 - this.#next) / FRAME);
    return this.#decide(this.#next + Math.max(frames, 0) * FRAME);
  }

  /** Gives the rest. */
  flush(): [Float32Array, Float32Array] {
    return this.#decide(this.#left.end);
  }

  /** Both channels were one recording. */
  get oneSound(): boolean {
    const same = this.#same.reduce((sum, count) => sum + count, 0);
    if (same < LEAST_FRAMES || same < SAME_SHARE * this.#spoken) return false;
    let median = 0;
    for (let seen = this.#same[0]!; seen < same / 2; seen += this.#same[median]!) median += 1;
    if (Math.abs(median - 40) > MOST_DECIBELS) return false;
    const around = this.#same.slice(Math.max(median - STEADY_DECIBELS, 0), median + STEADY_DECIBELS + 1);
    return around.reduce((sum, count) => sum + count, 0) >= STEADY_SHARE * same;
  }

  #decide(until: number): [Float32Array, Float32Array] {
    const from = this.#next;
    const left = this.#left.cut(from, until);
    const right = this.#right.cut(from, until);
    for (let start = from; start < until; start += FRAME) {
      const end = Math.min(start + FRAME, until);
      this.#decideFrame(start, left.subarray(start - from, end - from), right.subarray(start - from, end - from));
    }
    this.#next = until;
    this.#left.forget(until - PATTERN - LAG);
    this.#right.forget(until - PATTERN - LAG);
    return [left, right];
  }

  #decideFrame(start: number, left: Float32Array, right: Float32Array): void {
    const levelLeft = meanSquare(left);
    const levelRight = meanSquare(right);
    const level = Math.max(levelLeft, levelRight);
    this.#loud = Math.max(level, this.#loud * LOUDNESS_FADES, SPEECH);
    if (level < SPEECH) return;
    const telling = level > this.#loud * UNDER_LOUD;
    if (telling) this.#spoken += 1;
    if (Math.min(levelLeft, levelRight) < NOTHING) return;
    const likeness = this.#compare(start);
    // How much louder the left is than the right where they fit.
    const ratio = likeness.gain === 0 ? 0 : 1 / likeness.gain;
    const isEcho = ratio <= ECHO_GAIN || ratio >= 1 / ECHO_GAIN;
    if (likeness.correlation < (isEcho ? ECHO : SAME)) return;
    if (telling && likeness.correlation >= SAME) {
      const decibels = Math.round(10 * Math.log10(ratio));
      this.#same[Math.min(Math.max(decibels + 40, 0), 80)]! += 1;
    }
    if (this.#kept === 'left' ? ratio < 1 / LOUDER : ratio > LOUDER)
      this.#kept = this.#kept === 'left' ? 'right' : 'left';
    const lag = likeness.at * THINNING - LAG;
    if (this.#kept === 'left') silenceEcho(right, this.#left, start + lag, 1 / ratio);
    else silenceEcho(left, this.#right, start - lag, ratio);
  }

  /** Looks for the right channel's half second around a frame in the left channel. `at` less the lag is where it came from. */
  #compare(start: number): Likeness {
    const middle = start + FRAME / 2;
    const pattern = this.#thinned(this.#right, middle - PATTERN / 2, PATTERN);
    const stretch = this.#thinned(this.#left, middle - PATTERN / 2 - LAG, PATTERN + 2 * LAG);
    return this.#finder.find(pattern, stretch);
  }

  /** Every fourth sample's difference from the one before, which leaves out hum; silence beyond the ends. */
  #thinned(tape: Tape, start: number, length: number): Float32Array {
    const skipped = Math.max(-start, 0);
    const samples = tape.look(start + skipped, start + length);
    const thin = new Float32Array(length / THINNING);
    let before = 0;
    for (let at = 0; at + THINNING <= samples.length; at += THINNING) {
      const mean = (samples[at]! + samples[at + 1]! + samples[at + 2]! + samples[at + 3]!) / THINNING;
      thin[(at + skipped) / THINNING] = at === 0 ? 0 : mean - before;
      before = mean;
    }
    return thin;
  }
}

/** Silences what is no louder than the echo should be, in steps of 20 ms. `from`: where the echo's source begins. */
function silenceEcho(echo: Float32Array, source: Tape, from: number, gain: number): void {
  for (let at = 0; at < echo.length; at += STEP) {
    const step = echo.subarray(at, at + STEP);
    // An echo of a room lingers, so the source may have ended a step ago.
    const said = source.look(Math.max(from + at - STEP, 0), Math.max(from + at + 2 * STEP, 0));
    let loudest = 0;
    for (let part = 0; part < said.length; part += STEP)
      loudest = Math.max(loudest, meanSquare(said.subarray(part, part + STEP)));
    if (meanSquare(step) <= OVER_ECHO * gain * loudest) step.fill(0);
  }
}
