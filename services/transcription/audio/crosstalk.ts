import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { compare, CrossCorrelator, type Match } from './cross-correlation.ts';
import { meanSquare, SampleBuffer } from './sample-buffer.ts';
import type { Side } from './stereo.ts';

/** Decisions are made frame by frame, by the half second around a frame. */
const FRAME = SAMPLE_RATE_HZ / 4;
const MARGIN = SAMPLE_RATE_HZ / 8;
/**
 * A voice appears on the other channel up to a second later, by satellite or through the buffers of a conference. The
 * likeliest delays are searched for in blocks, and frames are compared at those of their block and the next alone: a
 * voice may begin at a block's end.
 */
const LONGEST_DELAY = 1.05 * SAMPLE_RATE_HZ;
const BLOCK = 1.5 * SAMPLE_RATE_HZ;
const LIKELIEST = 6;
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
/** Delays that count as the same: 1 ms. */
const SAME_DELAY = SAMPLE_RATE_HZ / DECIMATION / 1000;
/** An echo is at least 6 dB weaker than its source. */
const ECHO_RATIO = 4;
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

const SIDES = ['left', 'right'] as const;
const otherThan = (side: Side) => (side === 'left' ? 'right' : 'left');

/** A frame of a channel matches the other channel `delay` decimated samples earlier. */
interface FrameMatch extends Match {
  readonly side: Side;
  readonly delay: number;
}

/** The latest samples of a channel. */
class Channel {
  readonly samples = new SampleBuffer();
  /** The delay of the latest clear echoes, and how many there were in a row. */
  readonly echo = { delay: 0, frames: 0 };
  readonly #decimated = new SampleBuffer();
  #mean = 0;

  constructor() {
    // Silence before the recording begins, so that the first samples can be compared with what is earlier.
    this.#decimated.append(new Float32Array(AROUND));
  }

  append(samples: Float32Array): void {
    this.samples.append(samples);
    const from = (this.#decimated.end - AROUND) * DECIMATION;
    this.#decimated.append(this.#decimate(this.samples.view(from, this.samples.end)));
  }

  /** Appends silence, so that the last samples can be compared with what is later. */
  end(): void {
    this.#decimated.append(new Float32Array(AROUND + BLOCK / DECIMATION));
  }

  /** Decimated samples from a position in the recording; valid until the next `append`. */
  decimated(from: number, length: number): Float32Array {
    const start = Math.round(from / DECIMATION) + AROUND;
    return this.#decimated.view(start, start + length);
  }

  discard(before: number): void {
    this.samples.discard(before);
    this.#decimated.discard(before / DECIMATION + AROUND);
  }

  /** Differences between the means of four samples each, which removes hum. */
  #decimate(samples: Float32Array): Float32Array {
    const decimated = new Float32Array(Math.floor(samples.length / DECIMATION));
    for (let at = 0; at < decimated.length; at++) {
      const from = at * DECIMATION;
      const mean = (samples[from]! + samples[from + 1]! + samples[from + 2]! + samples[from + 3]!) / DECIMATION;
      decimated[at] = mean - this.#mean;
      this.#mean = mean;
    }
    return decimated;
  }
}

/** Decimated samples that are searched before and after a frame, with a few more because delays are rounded. */
const AROUND = (LONGEST_DELAY + MARGIN) / DECIMATION + SAME_DELAY;

/**
 * Removes speech that is on both channels, so that nothing is transcribed twice: an echo of the other party, or one
 * recording on two channels. The sound stays on the louder channel and is silenced on the other. Speech over an echo
 * stays. Detects at the end whether both channels carry the same recording.
 */
export class Crosstalk {
  readonly #channels = { left: new Channel(), right: new Channel() };
  readonly #correlator = new CrossCorrelator(16_384);
  #next = 0;
  /** By how much the left channel may be later, in the current and the next block; undefined until a frame needs it. */
  #likeliest: (readonly number[] | undefined)[] = [];
  #kept: Side = 'left';
  #loud = SPEECH;
  /** The echo of the latest speech has ended here. */
  #echoesUntil = 0;
  #speechFrames = 0;
  /** Matching frames, by how many decibels the left is louder than the right, from -40 to 40. */
  readonly #matching = new Uint32Array(81);

  /** Takes equally many samples of both channels; returns the processed ones, up to five seconds later. */
  push(left: Float32Array, right: Float32Array): [Float32Array, Float32Array] {
    this.#channels.left.append(left);
    this.#channels.right.append(right);
    const blocks = Math.floor((this.#end - LONGEST_DELAY - MARGIN - this.#next) / BLOCK) - 1;
    return this.#decide(this.#next + Math.max(blocks, 0) * BLOCK);
  }

  /** Returns the remaining samples. */
  flush(): [Float32Array, Float32Array] {
    for (const side of SIDES) this.#channels[side].end();
    return this.#decide(this.#end);
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

  get #end(): number {
    return this.#channels.left.samples.end;
  }

  #decide(until: number): [Float32Array, Float32Array] {
    const from = this.#next;
    const [left, right] = SIDES.map((side) => this.#channels[side].samples.copy(from, until)) as [
      Float32Array,
      Float32Array,
    ];
    for (; this.#next < until; this.#next += BLOCK) {
      for (let start = this.#next; start < Math.min(this.#next + BLOCK, until); start += FRAME) {
        const at = start - from;
        this.#decideFrame(start, { left: left.subarray(at, at + FRAME), right: right.subarray(at, at + FRAME) });
      }
      this.#likeliest.shift();
    }
    this.#next = until;
    for (const side of SIDES) this.#channels[side].discard(until - LONGEST_DELAY - BLOCK);
    return [left, right];
  }

  #decideFrame(start: number, frame: Readonly<Record<Side, Float32Array>>): void {
    const levels = { left: meanSquare(frame.left), right: meanSquare(frame.right) };
    const level = Math.max(levels.left, levels.right);
    this.#loud = Math.max(level, this.#loud * LOUDNESS_DECAY, SPEECH);
    if (level >= SPEECH) this.#echoesUntil = start + FRAME + LONGEST_DELAY;
    if (start >= this.#echoesUntil) return;
    const counts = level >= SPEECH && level > this.#loud * MIN_SHARE_OF_LOUD;
    if (counts) this.#speechFrames += 1;
    const sides = SIDES.filter((side) => levels[side] >= SILENCE && this.#canBeCopy(start, side));
    const matches = sides.map((side) => this.#match(start, side));
    const [best] = matches.toSorted((one, other) => other.correlation - one.correlation);
    if (best !== undefined && best.correlation >= SAME) this.#compareLoudness(best, counts);
    for (const match of matches) {
      if (!this.#isCopy(match)) continue;
      const { side, ratio, delay } = match;
      silenceEcho(frame[side], this.#channels[otherThan(side)].samples, start - delay * DECIMATION, 1 / ratio);
    }
  }

  #compareLoudness({ side, ratio }: FrameMatch, counts: boolean): void {
    const leftToRight = side === 'left' ? 1 / ratio : ratio;
    if (counts) {
      const decibels = Math.round(10 * Math.log10(leftToRight));
      this.#matching[Math.min(Math.max(decibels + 40, 0), 80)]! += 1;
    }
    if (this.#kept === 'left' ? leftToRight < 1 / LOUDER : leftToRight > LOUDER) this.#kept = otherThan(this.#kept);
  }

  /** Whether the frame is an echo, or the same recording on the channel that is not kept. */
  #isCopy({ side, ratio, correlation, delay }: FrameMatch): boolean {
    if (ratio < ECHO_RATIO) return ratio > 1 / ECHO_RATIO && correlation >= SAME && side !== this.#kept;
    const { echo } = this.#channels[side];
    const isKnown = Math.abs(delay - echo.delay) <= SAME_DELAY;
    if (correlation >= ECHO) {
      echo.frames = isKnown ? echo.frames + 1 : 1;
      echo.delay = delay;
      return true;
    }
    return isKnown && echo.frames >= KNOWN_FRAMES && correlation >= KNOWN_ECHO;
  }

  /** A frame that is far louder than all of the other channel around it is no copy. Most frames are, which saves the search. */
  #canBeCopy(start: number, side: Side): boolean {
    const level = meanSquare(this.#channels[side].decimated(start, FRAME / DECIMATION));
    const around = this.#channels[otherThan(side)].decimated(
      start - LONGEST_DELAY,
      (2 * LONGEST_DELAY + FRAME) / DECIMATION,
    );
    return ECHO_RATIO * loudest(around, FRAME / DECIMATION) > level;
  }

  /** The best match of the half second around a frame of one channel in the other channel. */
  #match(start: number, side: Side): FrameMatch {
    const likeliest = [0, 1].flatMap((block) => (this.#likeliest[block] ??= this.#search(this.#next + block * BLOCK)));
    const [from, length] = [start - MARGIN, (FRAME + 2 * MARGIN) / DECIMATION];
    const own = this.#channels[side].decimated(from, length);
    let best = { side, delay: 0, correlation: 0, ratio: 0 };
    const consider = (delay: number) => {
      const match = compare(own, this.#channels[otherThan(side)].decimated(from - delay * DECIMATION, length));
      if (match.correlation > best.correlation) best = { side, delay, ...match };
    };
    for (const delay of likeliest) consider(side === 'left' ? delay : -delay);
    consider(this.#channels[side].echo.delay);
    const { delay } = best;
    consider(delay - 1);
    consider(delay + 1);
    return best;
  }

  /** Either channel may have an echo of what the other had before the block. */
  #search(start: number): number[] {
    const from = start - LONGEST_DELAY - MARGIN;
    const length = (LONGEST_DELAY + BLOCK + 2 * MARGIN) / DECIMATION;
    const [left, right] = SIDES.map((side) => leveled(this.#channels[side].decimated(from, length)));
    return this.#correlator.delays(left!, right!, LONGEST_DELAY / DECIMATION, LIKELIEST);
  }
}

/** The level of the loudest part of this length. */
function loudest(samples: Float32Array, length: number): number {
  let level = 0;
  for (let from = 0; from < samples.length; from += length)
    level = Math.max(level, meanSquare(samples.subarray(from, from + length)));
  return level;
}

/** Each frame made equally loud, so that an echo counts among louder speech of the same block. */
function leveled(decimated: Float32Array): Float32Array {
  const result = decimated.slice();
  for (let from = 0; from < result.length; from += FRAME / DECIMATION) {
    const frame = result.subarray(from, from + FRAME / DECIMATION);
    const gain = 1 / Math.sqrt(meanSquare(frame) + SILENCE);
    for (let at = 0; at < frame.length; at++) frame[at] = gain * frame[at]!;
  }
  return result;
}

/** Silences the steps of 20 ms that are no louder than the expected echo. `from`: where the echo's source begins. */
function silenceEcho(echo: Float32Array, source: SampleBuffer, from: number, gain: number): void {
  for (let at = 0; at < echo.length; at += STEP) {
    const step = echo.subarray(at, at + STEP);
    // A room's echo lingers, so the source may have ended a step earlier.
    const original = source.view(Math.max(from + at - STEP, 0), Math.max(from + at + 2 * STEP, 0));
    if (meanSquare(step) <= OVER_ECHO * gain * loudest(original, STEP)) step.fill(0);
  }
}
