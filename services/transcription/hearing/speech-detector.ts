import { HEARING_RATE } from '../engine.ts';
import { meanSquare } from './mean-square.ts';

/** Samples that are judged at a time. */
export const WINDOW = 512;

/** Judges windows of one channel in their order. */
export interface VoiceActivity {
  /** Whether, with this window, somebody is speaking. Late by `lateToBegin` and `lateToEnd`. */
  accept(window: Float32Array): boolean;
  /** Forgets what it has heard. */
  reset(): void;
  /** Samples by which it hesitates to say that speech has begun, and that it has ended. */
  readonly lateToBegin: number;
  readonly lateToEnd: number;
}

/** Where somebody speaks: from `start` to before `end`, in samples from the recording's beginning. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Windows under -66 dB of full scale are silence; nobody is asked about them once it has lasted a second. */
const SILENCE = 2.5e-7;
const SETTLED = HEARING_RATE;
/** What listens keeps all it has heard of an utterance, so one without an end is interrupted. */
export const LONGEST_SECONDS = 60;
const LONGEST = LONGEST_SECONDS * HEARING_RATE;

/** Finds where somebody speaks in one channel. */
export class SpeechDetector {
  readonly #activity: VoiceActivity;
  #rest = new Float32Array(0);
  #position = 0;
  #openedAt: number | null = null;
  #silentFor = SETTLED;
  #heardSince = 0;
  #endedAt = 0;

  constructor(activity: VoiceActivity) {
    this.#activity = activity;
  }

  /** Where what is being said now began; null while nobody speaks. */
  get openedAt(): number | null {
    return this.#openedAt;
  }

  /** Up to here everything that has begun is known. */
  get knownUntil(): number {
    return this.#openedAt ?? Math.max(this.#position - this.#activity.lateToBegin, this.#endedAt);
  }

  /** Spans that have ended. */
  push(samples: Float32Array): Span[] {
    const spans: Span[] = [];
    const all = new Float32Array(this.#rest.length + samples.length);
    all.set(this.#rest);
    all.set(samples, this.#rest.length);
    let at = 0;
    for (; at + WINDOW <= all.length; at += WINDOW) {
      const span = this.#accept(all.subarray(at, at + WINDOW));
      if (span !== null) spans.push(span);
    }
    this.#rest = all.slice(at);
    return spans;
  }

  /** The span that the end of the recording ends. */
  flush(): Span[] {
    const end = this.#position + this.#rest.length;
    const spans = this.push(new Float32Array(WINDOW - this.#rest.length));
    if (this.#openedAt !== null) spans.push({ start: this.#openedAt, end });
    this.#openedAt = null;
    return spans;
  }

  #accept(window: Float32Array): Span | null {
    this.#position += WINDOW;
    this.#silentFor = meanSquare(window) < SILENCE ? this.#silentFor + WINDOW : 0;
    if (this.#openedAt === null && this.#silentFor > SETTLED) return null;
    this.#heardSince += WINDOW;
    const speaking = this.#activity.accept(window);
    if (speaking && this.#openedAt === null) {
      this.#openedAt = Math.max(this.#position - this.#activity.lateToBegin, this.#endedAt);
      return null;
    }
    if (this.#openedAt === null) {
      if (this.#heardSince > LONGEST) this.#forget();
      return null;
    }
    const isEndless = this.#position - this.#openedAt >= LONGEST;
    if (speaking && !isEndless) return null;
    const end = speaking ? this.#position : this.#position - this.#activity.lateToEnd;
    const span = { start: this.#openedAt, end: Math.max(end, this.#openedAt + WINDOW) };
    this.#openedAt = null;
    this.#endedAt = span.end;
    if (isEndless) this.#forget();
    return span;
  }

  #forget(): void {
    this.#activity.reset();
    this.#heardSince = 0;
  }
}
