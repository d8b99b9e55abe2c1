import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { CrossCorrelator, type Match } from './cross-correlation.ts';
import { meanSquare } from './mean-square.ts';
import { SampleBuffer } from './sample-buffer.ts';
import type { Side } from './stereo.ts';

/** Decisions are made frame by frame. */
const FRAME = SAMPLE_RATE_HZ / 4;
/**
 * One channel's half second around a frame is searched in the other channel, up to a quarter of a second earlier or
 * later.
 */
const PATTERN = SAMPLE_RATE_HZ / 2;
const LAG = SAMPLE_RATE_HZ / 4;
/** Low frequencies identify speech, and comparing at a quarter of the rate takes a tenth of the time. */
const DECIMATION = 4;
const STEP = SAMPLE_RATE_HZ / 50;

/** Mean squares: under -66 dB of full scale a channel is silent, under -55 dB it has no speech. */
const SILENCE = 2.5e-7;
const SPEECH = 3e-6;
/** Frames that are 25 dB under the loud parts do not count for `isDualMono`. */
const MIN_SHARE_OF_LOUD = 10 ** -2.5;
const LOUDNESS_DECAY = 0.995;

/**
 * Correlations. Two voices at the same time reach 0.5 by chance, because vowels are similar; one voice on both channels
 * stays over 0.9 until noise comes within 7 dB of it.
 */
const ECHO = 0.65;
const SAME = 0.8;
/**
 * An echo keeps its delay. At the delay of two earlier matches, chance reaches less than this, and an echo does so down
 * to 6 dB under the noise of the line.
 */
const KNOWN_ECHO = 0.35;
const KNOWN_FRAMES = 2;
/** Positions of matches that count as the same delay: 1 ms. */
const SAME_DELAY = 4;
/** An echo is at least 6 dB weaker than its source. */
const MAX_ECHO_GAIN = 0.25;
/** The louder channel is kept. The choice changes when the other one is 3 dB louder. */
const LOUDER = 2;
/** A step that is 6 dB louder than the expected echo contains speech of its own. */
const OVER_ECHO = 4;

/** Dual mono: the channels match in most of the speech, at a steady and small difference in loudness. */
const SAME_SHARE = 0.85;
const STEADY_SHARE = 0.9;
const STEADY_DECIBELS = 4;
const MAX_DECIBELS = 12;
const MIN_FRAMES = 4;

/**
 * Removes speech that is on both channels, so that nothing is transcribed twice: an echo of the other party, or one
 * recording on two channels. The sound stays on the louder channel and is silenced on the other. Speech over an echo
 * stays. Detects at the end whether both channels carry the same recording.
 */
export class Crosstalk {
  readonly #left = new SampleBuffer();
  readonly #right = new SampleBuffer();
  readonly #correlator = new CrossCorrelator(4096);
  #next = 0;
  #kept: Side = 'left';
  #loud = SPEECH;
  #speechFrames = 0;
  /** The delay of the latest clear matches, as their position, and how many there were in a row; for each source. */
  readonly #delays = { left: { position: 0, frames: 0 }, right: { position: 0, frames: 0 } };
  /** Matching frames, by how many decibels the left is louder than the right, from -40 to 40. */
  readonly #matching = new Uint32Array(81);

  /** Takes equally many samples of both channels; returns the processed ones, up to half a second later. */
  push(left: Float32Array, right: Float32Array): [Float32Array, Float32Array] {
    this.#left.append(left);
    this.#right.append(right);
    const frames = Math.floor((this.#left.end - LAG - PATTERN / 2 - this.#next) / FRAME);
    return this.#decide(this.#next + Math.max(frames, 0) * FRAME);
  }

  /** Returns the remaining samples. */
  flush(): [Float32Array, Float32Array] {
    return this.#decide(this.#left.end);
  }

  /** Both channels carry the same recording. */
  get isDualMono(): boolean {
    const matching = this.#matching.reduce((sum, count) => sum + count, 0);
    if (matching < MIN_FRAMES || matching < SAME_SHARE * this.#speechFrames) return false;
    let median = 0;
    for (let seen = this.#matching[0]!; seen < matching / 2; seen += this.#matching[median]!) median += 1;
    if (Math.abs(median - 40) > MAX_DECIBELS) return false;
    const around = this.#matching.slice(Math.max(median - STEADY_DECIBELS, 0), median + STEADY_DECIBELS + 1);
    return around.reduce((sum, count) => sum + count, 0) >= STEADY_SHARE * matching;
  }

  #decide(until: number): [Float32Array, Float32Array] {
    const from = this.#next;
    const left = this.#left.copy(from, until);
    const right = this.#right.copy(from, until);
    for (let start = from; start < until; start += FRAME) {
      const end = Math.min(start + FRAME, until);
      this.#decideFrame(start, left.subarray(start - from, end - from), right.subarray(start - from, end - from));
    }
    this.#next = until;
    this.#left.discard(until - PATTERN - LAG);
    this.#right.discard(until - PATTERN - LAG);
    return [left, right];
  }

  #decideFrame(start: number, left: Float32Array, right: Float32Array): void {
    const levelLeft = meanSquare(left);
    const levelRight = meanSquare(right);
    const level = Math.max(levelLeft, levelRight);
    this.#loud = Math.max(level, this.#loud * LOUDNESS_DECAY, SPEECH);
    if (level < SPEECH) return;
    const counts = level > this.#loud * MIN_SHARE_OF_LOUD;
    if (counts) this.#speechFrames += 1;
    if (Math.min(levelLeft, levelRight) < SILENCE) return;
    const match = this.#compare(start);
    // How much louder the left channel is than the matching right one.
    const ratio = match.gain === 0 ? 0 : 1 / match.gain;
    const isEcho = ratio <= MAX_ECHO_GAIN || ratio >= 1 / MAX_ECHO_GAIN;
    if (match.correlation < (isEcho ? this.#minEcho(match, ratio) : SAME)) return;
    if (isEcho && match.correlation >= ECHO) this.#remember(match, ratio);
    if (counts && match.correlation >= SAME) {
      const decibels = Math.round(10 * Math.log10(ratio));
      this.#matching[Math.min(Math.max(decibels + 40, 0), 80)]! += 1;
    }
    if (this.#kept === 'left' ? ratio < 1 / LOUDER : ratio > LOUDER)
      this.#kept = this.#kept === 'left' ? 'right' : 'left';
    const lag = match.position * DECIMATION - LAG;
    if (this.#kept === 'left') silenceEcho(right, this.#left, start + lag, 1 / ratio);
    else silenceEcho(left, this.#right, start - lag, ratio);
  }

  #minEcho({ position }: Match, ratio: number): number {
    const known = this.#delays[ratio > 1 ? 'left' : 'right'];
    const isKnown = known.frames >= KNOWN_FRAMES && Math.abs(position - known.position) <= SAME_DELAY;
    return isKnown ? KNOWN_ECHO : ECHO;
  }

  #remember({ position }: Match, ratio: number): void {
    const known = this.#delays[ratio > 1 ? 'left' : 'right'];
    known.frames = Math.abs(position - known.position) <= SAME_DELAY ? known.frames + 1 : 1;
    known.position = position;
  }

  /**
   * Searches the left channel for the right channel's half second around a frame. Position 0 is LAG samples earlier.
   */
  #compare(start: number): Match {
    const middle = start + FRAME / 2;
    const pattern = this.#decimated(this.#right, middle - PATTERN / 2, PATTERN);
    const signal = this.#decimated(this.#left, middle - PATTERN / 2 - LAG, PATTERN + 2 * LAG);
    return this.#correlator.bestMatch(pattern, signal);
  }

  /** Differences between the means of four samples each, which removes hum; silence beyond the recording's ends. */
  #decimated(buffer: SampleBuffer, start: number, length: number): Float32Array {
    const skipped = Math.max(-start, 0);
    const samples = buffer.view(start + skipped, start + length);
    const decimated = new Float32Array(length / DECIMATION);
    let before = 0;
    for (let at = 0; at + DECIMATION <= samples.length; at += DECIMATION) {
      const mean = (samples[at]! + samples[at + 1]! + samples[at + 2]! + samples[at + 3]!) / DECIMATION;
      decimated[(at + skipped) / DECIMATION] = at === 0 ? 0 : mean - before;
      before = mean;
    }
    return decimated;
  }
}

/** Silences the steps of 20 ms that are no louder than the expected echo. `from`: where the echo's source begins. */
function silenceEcho(echo: Float32Array, source: SampleBuffer, from: number, gain: number): void {
  for (let at = 0; at < echo.length; at += STEP) {
    const step = echo.subarray(at, at + STEP);
    // A room's echo lingers, so the source may have ended a step earlier.
    const original = source.view(Math.max(from + at - STEP, 0), Math.max(from + at + 2 * STEP, 0));
    let loudest = 0;
    for (let part = 0; part < original.length; part += STEP)
      loudest = Math.max(loudest, meanSquare(original.subarray(part, part + STEP)));
    if (meanSquare(step) <= OVER_ECHO * gain * loudest) step.fill(0);
  }
}
