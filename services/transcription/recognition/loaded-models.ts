import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { bundledModel, preparedBundledModel, spokenLanguageModel } from '../models/bundled.ts';
import { type Model, sherpaConfig } from '../models/model.ts';
import type { IdentifiedLanguage } from './language-listener.ts';
import {
  loadSherpa,
  type OfflineRecognizer,
  PROVIDER,
  recognize,
  type SpokenLanguageIdentification,
} from './sherpa.ts';

/** Gives access to models by loading them. */
export type Models = Pick<LoadedModels, keyof LoadedModels>;

/** Keeps loaded models until the process ends: loading one takes half a second, and it occupies hundreds of megabytes. */
export class LoadedModels {
  readonly #recognizers = new Map<string, OfflineRecognizer>();
  /** By the encoder's file. */
  readonly #identifications = new Map<string, SpokenLanguageIdentification>();
  #languageModel: OfflineRecognizer | undefined;
  readonly #directory: string;
  readonly #threads: number;

  /** `directory`: for the bundled model's files that are created once. `threads`: of each model. */
  constructor(directory: string, threads = 1) {
    this.#directory = directory;
    this.#threads = threads;
  }

  async recognizer(model: Model): Promise<OfflineRecognizer> {
    const loaded = this.#recognizers.get(model.name);
    if (loaded !== undefined) return loaded;
    const recognizer = this.#load(hasTokens(model) ? model : await preparedBundledModel(this.#directory));
    this.#recognizers.set(model.name, recognizer);
    return recognizer;
  }

  /** Detects the language of a segment with a multilingual Whisper model; returns an ISO 639-1 code. */
  identifyLanguage({ files }: Model, samples: Float32Array): string {
    const [encoder, decoder] = [files['encoder']!, files['decoder']!];
    let identification = this.#identifications.get(encoder);
    if (identification === undefined) {
      const { SpokenLanguageIdentification } = loadSherpa();
      const whisper = { encoder, decoder };
      identification = new SpokenLanguageIdentification({ whisper, numThreads: this.#threads, provider: PROVIDER });
      this.#identifications.set(encoder, identification);
    }
    const stream = identification.createStream();
    stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE_HZ });
    return identification.compute(stream);
  }

  /** Identifies the language of a segment with the bundled model. */
  spokenLanguage(samples: Float32Array): Omit<IdentifiedLanguage, 'side'> {
    this.#languageModel ??= this.#load(spokenLanguageModel());
    const [language = '', level = '0', english = '0'] = recognize(this.#languageModel, samples).text.split(' ');
    // The first digit of a probability: 6 is 0.6 to 0.7.
    const probability = (digit: string) => (Number(digit) + 0.5) / 10;
    return { language, probability: probability(level), english: probability(english) };
  }

  /** Gives the memory of that model back. It is loaded again, in a fifth of a second, when it is needed. */
  releaseLanguageModel(): void {
    if (this.#languageModel === undefined) return;
    this.#languageModel = undefined;
    // The native model ends with its object. It is much larger than the object, so the collector would see no need.
    setImmediate(() => globalThis.gc?.());
  }

  #load({ tokens, ...model }: Model & { readonly tokens: string }): OfflineRecognizer {
    const { OfflineRecognizer } = loadSherpa();
    return new OfflineRecognizer({
      featConfig: { sampleRate: SAMPLE_RATE_HZ, featureDim: 80 },
      modelConfig: sherpaConfig(model, tokens, { numThreads: this.#threads, provider: PROVIDER }),
      decodingMethod: 'greedy_search',
    });
  }
}

/** Only the bundled model has none. */
function hasTokens(model: Model): model is Model & { tokens: string } {
  return model.tokens !== undefined;
}

/** The configured models, preceded by the bundled English one unless one of them knows English. */
export function withBundledModel(models: readonly Model[]): Model[] {
  const knowEnglish = models.some(({ languages }) => languages.length === 0 || languages.includes('en'));
  return knowEnglish ? [...models] : [bundledModel(), ...models];
}
