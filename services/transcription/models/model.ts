/** Families of speech models that sherpa-onnx runs. Each has its own set of files. */
export const KINDS = [
  'moonshine',
  'whisper',
  'transducer',
  'nemo_transducer',
  'nemo_ctc',
  'gigaam',
  'zipformer_ctc',
  'sense_voice',
  'paraformer',
  'omnilingual',
  'dolphin',
  'canary',
] as const;
export type Kind = (typeof KINDS)[number];

/** A speech model on this machine: its files and languages. Plain data, so that it can be sent to a worker. */
export interface Model {
  /** As the transcript shows it. */
  readonly name: string;
  readonly kind: Kind;
  /** ISO 639-1 codes; empty for a multilingual model that detects the language. */
  readonly languages: readonly string[];
  /** Absolute paths, by sherpa-onnx's names of the parts. */
  readonly files: Readonly<Record<string, string>>;
  /** Absent for the bundled model, whose tokens are created when it is first used. */
  readonly tokens?: string;
  /** The size of the files; absent for the bundled model. */
  readonly bytes?: number;
  /** When the newest of the files was changed, in milliseconds, so that other files under the same names are another model. */
  readonly changedAt?: number;
}

/** The longest segment that models of a kind transcribe well. */
export function maxSegmentSeconds(kind: Kind): number {
  // Moonshine's time and memory grow with the square of the length, and it had the fewest errors up to 20 s. Whisper works
  // on windows of 30 s. The others were trained on about 20 s.
  return kind === 'whisper' ? 28 : 20;
}

/** The `modelConfig` of sherpa-onnx. `session`: what all its models are loaded with. */
export function sherpaConfig(
  model: Model,
  tokens: string,
  session: { readonly numThreads: number; readonly provider: string },
): Record<string, unknown> {
  const { kind, files } = model;
  const rest = { tokens, ...session };
  switch (kind) {
    case 'whisper':
      // An empty language lets the model detect it.
      return {
        whisper: { ...files, language: model.languages.length === 1 ? model.languages[0] : '', task: 'transcribe' },
        ...rest,
      };
    case 'canary': {
      const [language = 'en'] = model.languages;
      return { canary: { ...files, srcLang: language, tgtLang: language, usePnc: 1 }, ...rest };
    }
    case 'nemo_transducer':
      return { transducer: files, modelType: 'nemo_transducer', ...rest };
    case 'gigaam':
      return 'joiner' in files
        ? { transducer: files, modelType: 'nemo_transducer', ...rest }
        : { nemoCtc: files, ...rest };
    case 'nemo_ctc':
      return { nemoCtc: files, ...rest };
    case 'zipformer_ctc':
      return { zipformerCtc: files, ...rest };
    case 'sense_voice':
      return { senseVoice: { ...files, language: '', useInverseTextNormalization: 1 }, ...rest };
    default:
      // The others have sherpa's names.
      return { [kind]: files, ...rest };
  }
}
