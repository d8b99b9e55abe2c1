import { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { Side } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ, type TimedText } from '../engines/speech-engine.ts';
import { maxSegmentSeconds, type Model } from '../models/model.ts';
import {
  agreementOf,
  type Attempt,
  isCircular,
  isDoubtful,
  isForeign,
  isIdentified,
  isLost,
  isSurelySpoken,
  isWithoutText,
  knownShare,
  MIN_JUDGED_SECONDS,
  type SecondRecognition,
} from './language-check.ts';
import { LanguageListener } from './language-listener.ts';
import type { Models } from './loaded-models.ts';
import { type OfflineRecognizer, recognize } from './sherpa.ts';

/** The seconds of speech that each of several models transcribes before one is chosen. */
const TRIAL_SECONDS = 20;
/** Score of a model for a language without a list of common words. */
const UNLISTED_SCORE = 0.2;
/** The language is identified from segments of at least this length. */
const MIN_IDENTIFIED_SECONDS = 2;
/** Samples that the second attempt leaves out at both ends of a segment. */
const TRIMMED = Math.round(0.12 * SAMPLE_RATE_HZ);

/** The speech that is transcribed a second time when it is doubtful whether the model knows the language. */
const SECOND_SAMPLES = 40 * SAMPLE_RATE_HZ;
/** English keeps most of its words at this speed; of other languages the model makes other words. */
const SLOWER = 0.95;

/**
 * A model and its attempts at the recording's segments. `text` is the first attempt's text, `result` the last one's.
 */
interface Candidate {
  readonly model: Model;
  readonly attempts: (Attempt & {
    readonly result: string;
    readonly language: string | null;
    readonly confidence: number | undefined;
  })[];
}

/**
 * Transcribes with the model that knows the call's language. If there are several models, a multilingual Whisper model
 * among them identifies the language. Without one, all models transcribe the first segments, and the model is chosen
 * whose text is most plausible in its language. Fault LANGUAGE_NOT_SUPPORTED when no text is plausible.
 */
export class ModelTranscriber implements Transcriber {
  readonly maxSegmentSeconds: number;
  readonly #models: Models;
  readonly #identifier: Model | undefined;
  readonly #listener: LanguageListener;
  #candidates: Candidate[];
  #trialSeconds = 0;
  #language: string | null = null;
  /** The first segments, while it is not sure that the model knows the language. */
  #first: Float32Array[] = [];

  constructor(models: Models, all: readonly Model[]) {
    this.#models = models;
    this.#listener = new LanguageListener((samples) => models.spokenLanguage(samples));
    this.#candidates = all.map((model) => ({ model, attempts: [] }));
    this.#identifier =
      all.length > 1 ? all.find(({ kind, languages }) => kind === 'whisper' && languages.length !== 1) : undefined;
    this.maxSegmentSeconds = Math.min(...all.map(({ kind }) => maxSegmentSeconds(kind)));
  }

  async transcribe(samples: Float32Array, side: Side): Promise<void> {
    const seconds = samples.length / SAMPLE_RATE_HZ;
    if (this.#candidates.length > 1 && this.#identifier !== undefined && seconds >= MIN_IDENTIFIED_SECONDS) {
      this.#chooseByLanguage(this.#models.identifyLanguage(this.#identifier, samples));
    }
    if (this.#isListening()) {
      this.#listener.add(samples, side);
      if (this.#isListening()) this.#keep(samples);
      else this.#stopListening();
    }
    for (const { model, attempts } of this.#candidates) {
      const recognizer = await this.#models.recognizer(model);
      const { text, lang, ys_log_probs: logprobs } = recognize(recognizer, samples);
      const language = /[a-z]{2,3}/.exec(lang ?? '')?.[0] ?? null;
      const result = model.kind === 'moonshine' ? retryTrimmed(recognizer, samples, text) : text;
      attempts.push({ text, result, seconds, side, language, confidence: confidenceOf(logprobs) });
    }
    this.#trialSeconds += seconds;
    if (this.#candidates.length > 1 && this.#trialSeconds >= TRIAL_SECONDS) this.#chooseByText();
  }

  async finish(): Promise<Transcription> {
    const isListening = this.#isListening();
    if (isListening) this.#listener.finish();
    if (this.#candidates.length > 1) this.#chooseByText();
    const [chosen] = this.#candidates;
    const second = chosen === undefined ? undefined : await this.#recognizeAgain(chosen);
    if (isListening) this.#stopListening();
    if (chosen === undefined) throw unsupportedLanguage();
    const { model, attempts } = chosen;
    const results = attempts.map(({ result, seconds, side }) => ({ text: result, seconds, side }));
    const isUnknown =
      isForeign(model.languages, attempts, this.#listener.identified, second) ||
      isWithoutText(model.languages, results);
    if (isUnknown) throw unsupportedLanguage();
    const code =
      model.languages.length === 1
        ? model.languages[0]
        : (this.#language ?? mostFrequent(attempts.map((each) => each.language)));
    const language = Language.safeParse(code);
    return {
      engine: model.name,
      language: language.success ? language.data : null,
      segments: attempts.map(({ result, seconds, confidence }) =>
        isCircular(result) ? [] : [{ text: result, start: 0, end: seconds, confidence }],
      ),
    };
  }

  /** Until it is sure that the only model knows a party's language. */
  #isListening(): boolean {
    return this.#candidates.some(
      ({ model: { languages } }) => isIdentified(languages) && !isSurelySpoken(languages, this.#listener.identified),
    );
  }

  #keep(samples: Float32Array): void {
    const kept = this.#first.reduce((sum, each) => sum + each.length, 0);
    if (kept < SECOND_SAMPLES) this.#first.push(samples);
  }

  #stopListening(): void {
    this.#first = [];
    this.#models.releaseLanguageModel();
  }

  /** Costs as much as the first time, so it is done only when the sound is doubtful. */
  async #recognizeAgain({ model, attempts }: Candidate): Promise<SecondRecognition | undefined> {
    if (!isDoubtful(model.languages, this.#listener.identified)) return undefined;
    const recognizer = await this.#models.recognizer(model);
    const texts = this.#first.map((samples, at) => {
      const { result, seconds } = attempts[at]!;
      const slower = slowed(samples);
      const second = retryTrimmed(recognizer, slower, recognize(recognizer, slower).text);
      return { first: result, second, seconds };
    });
    return { identified: this.#listener.listenLonger(), agreement: agreementOf(texts) };
  }

  /** Among the models that know the language, prefers the one with the fewest languages. */
  #chooseByLanguage(language: string): void {
    const knowing = this.#candidates.filter(({ model }) => model.languages.includes(language));
    const specialized = knowing.toSorted((a, b) => a.model.languages.length - b.model.languages.length)[0];
    const multilingual = this.#candidates.find(({ model }) => model.languages.length === 0);
    const chosen = specialized ?? multilingual;
    if (chosen === undefined) throw unsupportedLanguage();
    this.#language = language;
    // Every candidate has transcribed the earlier segments, which were too short to identify the language.
    this.#candidates = [chosen];
  }

  #chooseByText(): void {
    const scored = this.#candidates.map((candidate) => {
      const { languages } = candidate.model;
      const score = isForeign(languages, candidate.attempts, this.#listener.identified)
        ? 0
        : (knownShare(languages, candidate.attempts) ?? UNLISTED_SCORE);
      return { candidate, score };
    });
    const best = scored.toSorted((a, b) => b.score - a.score)[0];
    if (best !== undefined) this.#candidates = [best.candidate];
  }
}

function unsupportedLanguage(): Fault {
  return new Fault(
    'invalid',
    'LANGUAGE_NOT_SUPPORTED',
    "No configured speech model knows the call's language. Add a model for it to SPEECH_MODEL_DIR with the admin command speech-model add, or set SPEECH_URL to a speech server, and retry the call.",
  );
}

/** The geometric mean of the tokens' probabilities, as Whisper's servers have it. */
function confidenceOf(logprobs: readonly number[] = []): number | undefined {
  if (logprobs.length === 0) return undefined;
  return Math.min(Math.exp(logprobs.reduce((sum, each) => sum + each, 0) / logprobs.length), 1);
}

/** The same speech, slower and lower, by linear interpolation. */
function slowed(samples: Float32Array): Float32Array {
  return Float32Array.from({ length: Math.max(0, Math.floor(samples.length / SLOWER) - 1) }, (_, at) => {
    const from = Math.floor(at * SLOWER);
    const share = at * SLOWER - from;
    return samples[from]! * (1 - share) + (samples[from + 1] ?? 0) * share;
  });
}

/**
 * Moonshine fails on one English segment in a hundred, and transcribes it correctly when it is slightly shortened at
 * both ends. Returns the better of the two texts.
 */
function retryTrimmed(recognizer: OfflineRecognizer, samples: Float32Array, text: string): string {
  const trimmed = samples.slice(TRIMMED, -TRIMMED);
  const seconds = trimmed.length / SAMPLE_RATE_HZ;
  if (seconds < MIN_JUDGED_SECONDS || !isLost({ text, seconds })) return text;
  const second = recognize(recognizer, trimmed).text;
  return isLost({ text: second, seconds }) ? text : second;
}

function mostFrequent(codes: readonly (string | null)[]): string | undefined {
  const counts = new Map<string, number>();
  for (const code of codes) if (code !== null) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0];
}

/** Transcribes the segments of one recording. */
export interface Transcriber {
  /** The longest segment that it accepts. */
  readonly maxSegmentSeconds: number;
  /** Transcribes a segment now or later. Throws what engines throw. */
  transcribe(samples: Float32Array, side: Side): Promise<void>;
  finish(): Promise<Transcription>;
}

export interface Transcription {
  /** The engine with its model. */
  readonly engine: string;
  readonly language: Language | null;
  /** The text of each segment, in the order of the segments. */
  readonly segments: readonly (readonly TimedText[])[];
}
