import { meanSquare, SampleBuffer } from '../audio/sample-buffer.ts';
import type { Side } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { type Span, SpeechDetector, type VoiceActivity } from './speech-detector.ts';

/** A stretch of one channel to transcribe. Times are seconds from the recording's beginning. */
export interface Segment {
  readonly side: Side;
  readonly samples: Float32Array;
  /** Where `samples` begin. */
  readonly from: number;
  /** Where the speech in them begins and ends. */
  readonly start: number;
  readonly end: number;
}

/**
 * Engines recognize the first and the last sound better with some context. Moonshine tiny's word errors in 2,949 words
 * of 18 calls: 19.3 % with 0.15 s, 17.2 % with 0.25 s, 18.2 % with 0.35 s; with 0.5 s it took two calls for another
 * language. Cut by hand, line by line: 17.9 %.
 */
const PADDING = Math.round(0.25 * SAMPLE_RATE_HZ);
/**
 * Speech of one party with pauses up to this, while the other party is silent, becomes one segment: complete sentences
 * have fewer word errors. Moonshine tiny in 1,946 words of synthetic speech at 8 kHz: 32.1 % when cut at every pause,
 * 27.8 % with 0.7 s, 25.8 % with 1 s and with 1.2 s, which also keeps the speech of slow speakers in one piece. Cut by
 * hand, line by line: 30.3 %.
 */
const MAX_JOINED_PAUSE = 1.2 * SAMPLE_RATE_HZ;
/** A word or two alone are often not recognized, so they are joined with what follows after a longer pause too. */
const SHORT = 1.2 * SAMPLE_RATE_HZ;
const MAX_PAUSE_AFTER_SHORT = 2 * SAMPLE_RATE_HZ;
/** Shorter segments contain no words. */
const MIN_SEGMENT = 0.2 * SAMPLE_RATE_HZ;
/** Speech without a pause is cut in the middle of its quietest moment, which has this length. */
const MOMENT = 0.1 * SAMPLE_RATE_HZ;
const REMEMBERED_SPANS = 8;
/**
 * The detector misses quiet first and last sounds, up to 0.7 s, and ends speech up to 0.15 s late. The sound itself is
 * more exact: parts of 20 ms that are less than 30 dB under the speech and 6 dB over the quietest moment around it
 * belong to it. Closures within a word are shorter than 60 ms.
 */
const PART = 0.02 * SAMPLE_RATE_HZ;
const UNDER_SPEECH = 1e-3;
const OVER_NOISE = 4;
const CLOSURE = 0.06 * SAMPLE_RATE_HZ;
const MAX_MISSED = 0.5 * SAMPLE_RATE_HZ;
/** Padding around a sound that was found so. */
const LEAST_PADDING = 0.1 * SAMPLE_RATE_HZ;

class Channel {
  readonly side: Side;
  readonly buffer = new SampleBuffer();
  readonly detector: SpeechDetector;
  /** Speech that has ended, but may still be joined with the following speech. */
  pending: Span | null = null;
  /** Where the last segment that was cut from longer speech ends. */
  cutAt = 0;
  endedAt = 0;
  readonly #latest: Span[] = [];

  constructor(side: Side, activity: VoiceActivity) {
    this.side = side;
    this.detector = new SpeechDetector(activity);
  }

  /** The start of the current speech, after the last cut; null during silence. */
  get openedAt(): number | null {
    const { openedAt } = this.detector;
    return openedAt === null ? null : Math.max(openedAt, this.cutAt);
  }

  remember(span: Span): void {
    this.#latest.push(span);
    if (this.#latest.length > REMEMBERED_SPANS) this.#latest.shift();
  }

  hasSpeechIn(start: number, end: number): boolean {
    const { openedAt } = this.detector;
    return (openedAt !== null && openedAt < end) || this.#latest.some((span) => span.start < end && span.end > start);
  }
}

/** Cuts two channels into segments. A segment is speech of one party and not longer than an engine accepts. */
export class Segmenter {
  readonly #left: Channel;
  readonly #right: Channel;
  readonly #maxLength: number;

  constructor(activity: () => VoiceActivity, maxSegmentSeconds: number) {
    this.#left = new Channel('left', activity());
    this.#right = new Channel('right', activity());
    this.#maxLength = maxSegmentSeconds * SAMPLE_RATE_HZ - 2 * PADDING;
  }

  /** Takes equally many samples of both channels. Returns the segments that are complete, in order for each channel. */
  push(left: Float32Array, right: Float32Array): Segment[] {
    const segments: Segment[] = [];
    const found = [
      [this.#left, this.#detect(this.#left, left)],
      [this.#right, this.#detect(this.#right, right)],
    ] as const;
    for (const [channel, spans] of found) for (const span of spans) this.#add(channel, span, segments);
    for (const channel of [this.#left, this.#right]) this.#settle(channel, segments);
    return segments;
  }

  /** Returns the remaining segments at the recording's end. */
  flush(): Segment[] {
    const segments: Segment[] = [];
    for (const channel of [this.#left, this.#right]) {
      for (const span of channel.detector.flush()) this.#add(channel, span, segments);
      this.#cutPending(channel, segments);
    }
    return segments;
  }

  #detect(channel: Channel, samples: Float32Array): Span[] {
    channel.buffer.append(samples);
    const spans = channel.detector.push(samples);
    for (const span of spans) channel.remember(span);
    return spans;
  }

  #add(channel: Channel, span: Span, segments: Segment[]): void {
    let start = Math.max(span.start, channel.cutAt);
    if (channel.pending?.end === start) {
      // The detector cuts endless speech anywhere, also within a word.
      start = channel.pending.start;
      channel.pending = null;
    }
    if (span.end - start > this.#maxLength) this.#cutPending(channel, segments);
    while (span.end - start > this.#maxLength) start = this.#cutLong(channel, start, segments);
    if (span.end <= start) return;
    const { pending } = channel;
    if (pending !== null && this.#joins(channel, pending, start) && span.end - pending.start <= this.#maxLength) {
      channel.pending = { start: pending.start, end: span.end };
      return;
    }
    this.#cutPending(channel, segments);
    channel.pending = { start, end: span.end };
  }

  #joins(channel: Channel, pending: Span, start: number): boolean {
    const other = channel === this.#left ? this.#right : this.#left;
    const maxPause = pending.end - pending.start < SHORT ? MAX_PAUSE_AFTER_SHORT : MAX_JOINED_PAUSE;
    return start - pending.end <= maxPause && !other.hasSpeechIn(pending.end, start);
  }

  /** Cuts the speech that can no longer grow, and discards the samples that have been cut. */
  #settle(channel: Channel, segments: Segment[]): void {
    let { openedAt } = channel;
    const known = openedAt ?? channel.detector.knownUntil;
    if (channel.pending !== null && !this.#joins(channel, channel.pending, known)) this.#cutPending(channel, segments);
    while (openedAt !== null) {
      const { pending } = channel;
      const start = pending?.end === openedAt ? pending.start : openedAt;
      if (channel.buffer.end - start <= this.#maxLength) break;
      if (start === openedAt) this.#cutPending(channel, segments);
      const cut = this.#cutLong(channel, start, segments);
      channel.pending = cut < openedAt ? { start: cut, end: openedAt } : null;
      openedAt = Math.max(openedAt, cut);
    }
    channel.buffer.discard((channel.pending?.start ?? known) - MAX_MISSED - LEAST_PADDING);
  }

  #cutPending(channel: Channel, segments: Segment[]): void {
    if (channel.pending === null) return;
    const { start, end } = channel.pending;
    channel.pending = null;
    if (end - start < MIN_SEGMENT) return;
    const last = lastSound(channel.buffer, start, end, channel.detector.openedAt);
    segments.push(this.#segmentOf(channel, { start, end: last }, Math.max(end + PADDING, last + LEAST_PADDING)));
    channel.endedAt = last;
  }

  /** Cuts a segment off longer speech, at a quiet moment; returns where the rest begins. */
  #cutLong(channel: Channel, start: number, segments: Segment[]): number {
    const cut = quietestMoment(channel.buffer, start + this.#maxLength / 2, start + this.#maxLength);
    segments.push(this.#segmentOf(channel, { start, end: cut }, cut));
    channel.endedAt = cut;
    channel.cutAt = cut;
    return cut;
  }

  /** The segment of speech, with the samples up to `to`. */
  #segmentOf({ side, buffer, cutAt, endedAt }: Channel, { start, end }: Span, wanted: number): Segment {
    let [first, from] = [start, start];
    if (start !== cutAt) {
      first = firstSound(buffer, start, end, Math.max(start - MAX_MISSED, endedAt, 0));
      const longest = wanted - this.#maxLength - 2 * PADDING;
      from = Math.max(Math.min(start - PADDING, first - LEAST_PADDING), longest, 0);
    }
    const to = Math.min(wanted, from + this.#maxLength + 2 * PADDING);
    return {
      side,
      samples: buffer.copy(from, to),
      from: from / SAMPLE_RATE_HZ,
      start: first / SAMPLE_RATE_HZ,
      end: end / SAMPLE_RATE_HZ,
    };
  }
}

/** Where the sound of speech begins, from `from` to `start`. */
function firstSound(buffer: SampleBuffer, start: number, end: number, from: number): number {
  const least = leastLevel(buffer, start, end, from, start);
  let first = start;
  for (let at = start - PART; at >= from && first - at <= CLOSURE; at -= PART)
    if (meanSquare(buffer.view(at, at + PART)) > least) first = at;
  return first;
}

/** Where the sound of speech ends, around `end`. `next` is where the next speech begins; null when it has not begun. */
function lastSound(buffer: SampleBuffer, start: number, end: number, next: number | null): number {
  const until = Math.min(end + MAX_MISSED, next ?? Infinity, buffer.end);
  const least = leastLevel(buffer, start, end, end, until);
  let last = end;
  for (let at = end; at + PART <= until && at - last <= CLOSURE; at += PART)
    if (meanSquare(buffer.view(at, at + PART)) > least) last = at + PART;
  if (last > end) return last;
  for (let at = end; at > Math.max(end - PADDING, start + MIN_SEGMENT); at -= PART)
    if (meanSquare(buffer.view(at - PART, at)) > least) return at;
  return end;
}

/** The mean square over which sound belongs to the speech. Between `from` and `to` is no speech, or little. */
function leastLevel(buffer: SampleBuffer, start: number, end: number, from: number, to: number): number {
  let quietest = Infinity;
  for (let at = from; at + MOMENT <= to; at += PART)
    quietest = Math.min(quietest, meanSquare(buffer.view(at, at + MOMENT)));
  const noise = quietest === Infinity ? 0 : OVER_NOISE * quietest;
  return Math.max(UNDER_SPEECH * meanSquare(buffer.view(start, end)), noise);
}

/** The middle of the quietest moment. */
function quietestMoment(buffer: SampleBuffer, start: number, end: number): number {
  let lowest = Infinity;
  let best = end;
  for (let at = Math.floor(start); at + MOMENT <= end; at += MOMENT / 4) {
    const level = meanSquare(buffer.view(at, at + MOMENT));
    if (level >= lowest) continue;
    lowest = level;
    best = at + MOMENT / 2;
  }
  return Math.floor(best);
}
