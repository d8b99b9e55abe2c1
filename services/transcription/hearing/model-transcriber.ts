import { Language } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { HEARING_RATE } from '../engine.ts';
import { bundledModel, bundledTokens } from '../models/bundled.ts';
import { longestPiece, type Model, sherpaConfig } from '../models/model.ts';
import type { Side } from './crosstalk.ts';
import type { Transcriber, Transcription } from './hear-recording.ts';
import { type Attempt, isCircular, isForeign, isLost, knownShare, TELLING_SECONDS } from './plausibility.ts';
import { loadSherpa, type OfflineRecognizer, type SpokenLanguageIdentification } from './sherpa.ts';

/** Several models hear so many seconds of speech each before one of them is chosen. */
const TRIAL_SECONDS = 20;
/** Of a language whose words we do not list a model is believed this much. */
const UNLISTED = 0.2;
/** Pieces from this length on are asked for their language. */
const IDENTIFIED_SECONDS = 2;
/** What is taken off both ends of a piece for a second look. */
const TRIMMED = Math.round(0.12 * HEARING_RATE);

/** A model's own attempts at the pieces of a recording. `text` is of the first look at it, `said` of the last. */
interface Candidate {
  readonly model: Model;
  readonly attempts: (Attempt & { readonly said: string; readonly language: string | null })[];
}

/** Where models come from. */
export interface Models {
  recognizer(model: Model): Promise<OfflineRecognizer>;
  /** What language a piece is in, by a Whisper model of many languages. */
  identify(model: Model, samples: Float32Array): string;
}

/** Models that have been loaded, for as long as the process lives: it costs half a second and hundreds of megabytes. */
export class LoadedModels implements Models {
  readonly #recognizers = new Map<string, OfflineRecognizer>();
  #identification: SpokenLanguageIdentification | undefined;
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async recognizer(model: Model): Promise<OfflineRecognizer> {
    const known = this.#recognizers.get(model.name);
    if (known !== undefined) return known;
    const tokens = model.tokens ?? (await bundledTokens(this.#directory));
    const { OfflineRecognizer } = loadSherpa();
    const recognizer = new OfflineRecognizer({
      featConfig: { sampleRate: HEARING_RATE, featureDim: 80 },
      modelConfig: sherpaConfig(model, tokens),
      decodingMethod: 'greedy_search',
    });
    this.#recognizers.set(model.name, recognizer);
    return recognizer;
  }

  identify({ files }: Model, samples: Float32Array): string {
    const { SpokenLanguageIdentification } = loadSherpa();
    const whisper = { encoder: files['encoder']!, decoder: files['decoder']! };
    this.#identification ??= new SpokenLanguageIdentification({ whisper, numThreads: 1 });
    const stream = this.#identification.createStream();
    stream.acceptWaveform({ samples, sampleRate: HEARING_RATE });
    return this.#identification.compute(stream);
  }
}

/** All that hear a call: those of the directory, and English by the bundled one unless one of them knows it. */
export function modelsToHear(models: readonly Model[]): Model[] {
  const knowEnglish = models.some(({ languages }) => languages.length === 0 || languages.includes('en'));
  return knowEnglish ? [...models] : [bundledModel(), ...models];
}

/**
 * Hears pieces with the model that knows the call's language. Where there are several, the language is told by a Whisper
 * model of many languages, if there is one; otherwise all hear the first pieces, and the one stays whose text looks most
 * like its language. Fault LANGUAGE_NOT_SUPPORTED when none does.
 */
export class ModelTranscriber implements Transcriber {
  readonly maxPieceSeconds: number;
  readonly #models: Models;
  readonly #identifier: Model | undefined;
  #candidates: Candidate[];
  #trialSeconds = 0;
  #language: string | null = null;

  constructor(models: Models, all: readonly Model[]) {
    this.#models = models;
    this.#candidates = all.map((model) => ({ model, attempts: [] }));
    this.#identifier =
      all.length > 1 ? all.find(({ kind, languages }) => kind === 'whisper' && languages.length !== 1) : undefined;
    this.maxPieceSeconds = Math.min(...all.map(({ kind }) => longestPiece(kind)));
  }

  async hear(samples: Float32Array, side: Side): Promise<void> {
    const seconds = samples.length / HEARING_RATE;
    if (this.#candidates.length > 1 && this.#identifier !== undefined && seconds >= IDENTIFIED_SECONDS) {
      this.#choose(this.#models.identify(this.#identifier, samples));
    }
    for (const { model, attempts } of this.#candidates) {
      const recognizer = await this.#models.recognizer(model);
      const { text, lang } = recognize(recognizer, samples);
      const language = /[a-z]{2,3}/.exec(lang ?? '')?.[0] ?? null;
      const said = model.kind === 'moonshine' ? secondLook(recognizer, samples, text) : text;
      attempts.push({ text, said, seconds, side, language });
    }
    this.#trialSeconds += seconds;
    if (this.#candidates.length > 1 && this.#trialSeconds >= TRIAL_SECONDS) this.#chooseByText();
  }

  async finish(): Promise<Transcription> {
    if (this.#candidates.length > 1) this.#chooseByText();
    const [chosen] = this.#candidates;
    if (chosen === undefined || isForeign(chosen.model.languages, chosen.attempts)) throw this.#unknownLanguage();
    const { model, attempts } = chosen;
    const code =
      model.languages.length === 1
        ? model.languages[0]
        : (this.#language ?? mostFrequent(attempts.map((each) => each.language)));
    const language = Language.safeParse(code);
    return {
      engine: model.name,
      language: language.success ? language.data : null,
      pieces: attempts.map(({ said, seconds }) => (isCircular(said) ? [] : [{ text: said, start: 0, end: seconds }])),
    };
  }

  /** The model that knows the language alone goes before one that knows many. */
  #choose(language: string): void {
    const knowing = this.#candidates.filter(({ model }) => model.languages.includes(language));
    const chosen = knowing.toSorted((a, b) => a.model.languages.length - b.model.languages.length)[0];
    const many = this.#candidates.find(({ model }) => model.languages.length === 0);
    const only = chosen ?? many;
    if (only === undefined) throw this.#unknownLanguage();
    this.#language = language;
    // Pieces before this one were too short to tell; whoever is chosen has heard them like all the others.
    this.#candidates = [only];
  }

  #chooseByText(): void {
    const scored = this.#candidates.map((candidate) => {
      const { languages } = candidate.model;
      const score = isForeign(languages, candidate.attempts)
        ? 0
        : (knownShare(languages, candidate.attempts) ?? UNLISTED);
      return { candidate, score };
    });
    const best = scored.toSorted((a, b) => b.score - a.score)[0];
    if (best !== undefined) this.#candidates = [best.candidate];
  }

  #unknownLanguage(): Fault {
    return new Fault(
      'invalid',
      'LANGUAGE_NOT_SUPPORTED',
      'The call is in a language that no speech model here knows. Name a directory with a model for it in SPEECH_MODEL_DIR, or a speech server in SPEECH_URL, and retry the call.',
    );
  }
}

function recognize(recognizer: OfflineRecognizer, samples: Float32Array): { text: string; lang?: string } {
  const stream = recognizer.createStream();
  stream.acceptWaveform({ samples, sampleRate: HEARING_RATE });
  recognizer.decode(stream);
  return recognizer.getResult(stream);
}

/**
 * Of one in a hundred English pieces Moonshine makes nothing, and of nearly the same samples, a little less at both ends,
 * the right words.
 */
function secondLook(recognizer: OfflineRecognizer, samples: Float32Array, text: string): string {
  const trimmed = samples.slice(TRIMMED, -TRIMMED);
  const seconds = trimmed.length / HEARING_RATE;
  if (seconds < TELLING_SECONDS || !isLost({ text, seconds })) return text;
  const again = recognize(recognizer, trimmed).text;
  return isLost({ text: again, seconds }) ? text : again;
}

function mostFrequent(codes: readonly (string | null)[]): string | undefined {
  const counts = new Map<string, number>();
  for (const code of codes) if (code !== null) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0];
}
