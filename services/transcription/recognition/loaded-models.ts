import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { bundledModel, bundledTokens } from '../models/bundled.ts';
import { type Model, sherpaConfig } from '../models/model.ts';
import { loadSherpa, type OfflineRecognizer, type SpokenLanguageIdentification } from './sherpa.ts';

/** Gives access to models by loading them. */
export interface Models {
  recognizer(model: Model): Promise<OfflineRecognizer>;
  /** Detects the language of a segment with a multilingual Whisper model; returns an ISO 639-1 code. */
  identifyLanguage(model: Model, samples: Float32Array): string;
}

/** Keeps loaded models until the process ends: loading one takes half a second, and it occupies hundreds of megabytes. */
export class LoadedModels implements Models {
  readonly #recognizers = new Map<string, OfflineRecognizer>();
  #identification: SpokenLanguageIdentification | undefined;
  readonly #directory: string;

  /** `directory`: for the bundled model's tokens, which are created once. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  async recognizer(model: Model): Promise<OfflineRecognizer> {
    const loaded = this.#recognizers.get(model.name);
    if (loaded !== undefined) return loaded;
    const tokens = model.tokens ?? (await bundledTokens(this.#directory));
    const { OfflineRecognizer } = loadSherpa();
    const recognizer = new OfflineRecognizer({
      featConfig: { sampleRate: SAMPLE_RATE_HZ, featureDim: 80 },
      modelConfig: sherpaConfig(model, tokens),
      decodingMethod: 'greedy_search',
    });
    this.#recognizers.set(model.name, recognizer);
    return recognizer;
  }

  identifyLanguage({ files }: Model, samples: Float32Array): string {
    const { SpokenLanguageIdentification } = loadSherpa();
    const whisper = { encoder: files['encoder']!, decoder: files['decoder']! };
    this.#identification ??= new SpokenLanguageIdentification({ whisper, numThreads: 1 });
    const stream = this.#identification.createStream();
    stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE_HZ });
    return this.#identification.compute(stream);
  }
}

/** The configured models, preceded by the bundled English one unless one of them knows English. */
export function withBundledModel(models: readonly Model[]): Model[] {
  const knowEnglish = models.some(({ languages }) => languages.length === 0 || languages.includes('en'));
  return knowEnglish ? [...models] : [bundledModel(), ...models];
}
