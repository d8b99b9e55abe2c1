import type { Side } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';

/**
 * The likeliest language of some seconds of one party's speech, an ISO 639-1 code, how likely it is, and how likely
 * English is.
 */
export interface IdentifiedLanguage {
  readonly side: Side;
  readonly language: string;
  readonly probability: number;
  readonly english: number;
}

/** The language of speech at SAMPLE_RATE_HZ. Takes a thirtieth of the speech's time. */
type IdentifyLanguage = (samples: Float32Array) => Omit<IdentifiedLanguage, 'side'>;

/** Longer pieces are identified hardly better, and shorter ones worse. */
const WINDOW = 8 * SAMPLE_RATE_HZ;
/** The rest of a recording is identified from this length on. */
const MIN_WINDOW = 3 * SAMPLE_RATE_HZ;
/** The first windows of each party are identified, and then one every this many seconds of its speech. */
const FIRST_WINDOWS = 3;
const LATER = 60 * SAMPLE_RATE_HZ;

/**
 * The speech of each party that is identified again when the first windows are doubtful. It takes 20 MB more than a window
 * of eight seconds; one of 16 s would take 60 MB more.
 */
const LONG_WINDOW = 12 * SAMPLE_RATE_HZ;

/** Identifies the languages that are spoken in a recording, from samples of each party's speech. */
export class LanguageListener {
  readonly identified: IdentifiedLanguage[] = [];
  readonly #identify: IdentifyLanguage;
  readonly #parties = { left: party('left'), right: party('right') };

  constructor(identify: IdentifyLanguage) {
    this.#identify = identify;
  }

  /** Takes a segment of speech. */
  add(samples: Float32Array, side: Side): void {
    const speaker = this.#parties[side];
    const missing = LONG_WINDOW - lengthOf(speaker.beginning);
    if (missing > 0) speaker.beginning.push(samples.slice(0, missing));
    if (speaker.windows >= FIRST_WINDOWS && speaker.skipped < LATER) {
      speaker.skipped += samples.length;
      return;
    }
    const part = samples.slice(0, WINDOW - speaker.collected);
    speaker.parts.push(part);
    speaker.collected += part.length;
    if (speaker.collected >= WINDOW) this.#listen(speaker);
  }

  /** Identifies the rest of the recording, if it is long enough. */
  finish(): void {
    const { left, right } = this.#parties;
    for (const speaker of [left, right]) {
      if (speaker.windows < FIRST_WINDOWS && speaker.collected >= MIN_WINDOW) this.#listen(speaker);
    }
    if (this.identified.length > 0 || left.collected + right.collected < MIN_WINDOW) return;
    // Two parties who say little are most likely to speak one language.
    left.parts.push(...right.parts);
    this.#listen(left);
  }

  /** Identifies the first speech of each party in one long window, and half of it together with that of the other. */
  listenLonger(): IdentifiedLanguage[] {
    const beginnings = (['left', 'right'] as const)
      .map((side) => ({ side, samples: joined(this.#parties[side].beginning) }))
      .filter(({ samples }) => samples.length > 0);
    const both = {
      side: 'left' as const,
      samples: joined(beginnings.map(({ samples }) => samples.slice(0, LONG_WINDOW / 2))),
    };
    return (beginnings.length > 1 ? [...beginnings, both] : beginnings)
      .filter(({ samples }) => samples.length >= MIN_WINDOW)
      .map(({ side, samples }) => ({ side, ...this.#identify(samples) }));
  }

  #listen(speaker: Party): void {
    const samples = joined(speaker.parts.splice(0));
    speaker.collected = 0;
    speaker.skipped = 0;
    speaker.windows += 1;
    this.identified.push({ side: speaker.side, ...this.#identify(samples) });
  }
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const samples = new Float32Array(lengthOf(parts));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return samples;
}

function lengthOf(parts: readonly Float32Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

type Party = ReturnType<typeof party>;

function party(side: Side) {
  return {
    side,
    parts: [] as Float32Array[],
    /** The first speech, of LONG_WINDOW samples at most. */
    beginning: [] as Float32Array[],
    collected: 0,
    skipped: 0,
    windows: 0,
  };
}
