import { meanSquare } from '../audio/sample-buffer.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';

/** The samples of a window. Voice activity is decided per window. */
export const WINDOW = 512;

/** Detects voice activity in consecutive windows of one channel. */
export interface VoiceActivity {
  /** Whether someone speaks. Decisions are later than the sound by `startDelay` and `endDelay`. */
  accept(window: Float32Array): boolean;
  reset(): void;
  /** By how many samples the detection of the start and of the end of speech is late. */
  readonly startDelay: number;
  readonly endDelay: number;
}

/** Speech from `start` to before `end`, in samples from the recording's beginning. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Windows under -66 dB of full scale are silent. After a second of silence the detector is no longer asked. */
const SILENCE = 2.5e-7;
const SETTLED = SAMPLE_RATE_HZ;
/** Utterances without an end are cut, because voice activity detection keeps the samples of the current utterance. */
export const MAX_UTTERANCE_SECONDS = 60;
const MAX_UTTERANCE = MAX_UTTERANCE_SECONDS * SAMPLE_RATE_HZ;

export class SpeechDetector {
  readonly #activity: VoiceActivity;
  #rest = new Float32Array(0);
  #position = 0;
  #openedAt: number | null = null;
  #silentFor = SETTLED;
  #acceptedSinceReset = 0;
  #endedAt = 0;

  constructor(activity: VoiceActivity) {
    this.#activity = activity;
  }

  /** The start of the current speech; null during silence. */
  get openedAt(): number | null {
    return this.#openedAt;
  }

  /** Speech that begins later may still be undetected. */
  get knownUntil(): number {
    return this.#openedAt ?? Math.max(this.#position - this.#activity.startDelay, this.#endedAt);
  }

  /** Returns the spans that have ended. */
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

  /** Returns the spans that end with the recording. */
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
    this.#acceptedSinceReset += WINDOW;
    const isSpeech = this.#activity.accept(window);
    if (isSpeech && this.#openedAt === null) {
      this.#openedAt = Math.max(this.#position - this.#activity.startDelay, this.#endedAt);
      return null;
    }
    if (this.#openedAt === null) {
      if (this.#acceptedSinceReset > MAX_UTTERANCE) this.#reset();
      return null;
    }
    const isTooLong = this.#position - this.#openedAt >= MAX_UTTERANCE;
    if (isSpeech && !isTooLong) return null;
    const end = isSpeech ? this.#position : this.#position - this.#activity.endDelay;
    const span = { start: this.#openedAt, end: Math.max(end, this.#openedAt + WINDOW) };
    this.#openedAt = null;
    this.#endedAt = span.end;
    if (isTooLong) this.#reset();
    return span;
  }

  #reset(): void {
    this.#activity.reset();
    this.#acceptedSinceReset = 0;
  }
}
