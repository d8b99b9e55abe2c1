import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { ConfigFault } from '@call-analysis/runtime';
import { z } from 'zod';
import { type Kind, KINDS, type Model } from './model.ts';

const Description = z.strictObject({
  kind: z.enum(KINDS).optional(),
  name: z.string().min(1).optional(),
  languages: z.array(z.string().regex(/^[a-z]{2,3}$/)).optional(),
  /** Where the model comes from. */
  source: z.string().optional(),
});
type Description = z.infer<typeof Description>;

export const DESCRIPTION = 'model.json';

/** On a disk of its own. */
const LOST_AND_FOUND = 'lost+found';

/** The files of each kind: sherpa's name of the part, and a pattern of file names. The first matching set is used. */
const FILES: Readonly<Record<Kind, Readonly<Record<string, RegExp>>[]>> = {
  moonshine: [
    { encoder: /encoder_model/, mergedDecoder: /decoder_model_merged/ },
    {
      preprocessor: /preprocess/,
      encoder: /^encode\b/,
      uncachedDecoder: /uncached_decode/,
      cachedDecoder: /^cached_decode/,
    },
  ],
  whisper: [{ encoder: /encoder/, decoder: /decoder/ }],
  canary: [{ encoder: /encoder/, decoder: /decoder/ }],
  transducer: [{ encoder: /encoder/, decoder: /decoder/, joiner: /joiner|joint/ }],
  nemo_transducer: [{ encoder: /encoder/, decoder: /decoder/, joiner: /joiner|joint/ }],
  gigaam: [{ encoder: /encoder/, decoder: /decoder/, joiner: /joiner|joint/ }, { model: /./ }],
  nemo_ctc: [{ model: /./ }],
  zipformer_ctc: [{ model: /./ }],
  sense_voice: [{ model: /./ }],
  paraformer: [{ model: /./ }],
  omnilingual: [{ model: /./ }],
  dolphin: [{ model: /./ }],
};

/** The kind that the names of the directory and its files indicate, where there is no description. */
const NAMES: readonly (readonly [RegExp, Kind])[] = [
  [/giga-?am/i, 'gigaam'],
  [/moonshine/i, 'moonshine'],
  [/whisper/i, 'whisper'],
  [/sense-?voice/i, 'sense_voice'],
  [/paraformer/i, 'paraformer'],
  [/canary/i, 'canary'],
  [/omnilingual/i, 'omnilingual'],
  [/dolphin/i, 'dolphin'],
  [/zipformer.*ctc/i, 'zipformer_ctc'],
  [/(nemo|parakeet|conformer).*(ctc)/i, 'nemo_ctc'],
  [/(nemo|parakeet).*(transducer|tdt|rnnt)/i, 'nemo_transducer'],
];

/** Languages that follow from the kind. */
const LANGUAGES: Partial<Readonly<Record<Kind, readonly string[]>>> = { moonshine: ['en'], gigaam: ['ru'] };

/**
 * The models of a directory, which is a model itself or has a folder for each. Reads only file names and descriptions, so
 * that mistakes are reported at start without loading a model. None in an empty directory, to which models may be added
 * later. Hidden folders are of models that are being added. ConfigFault describes a mistake in one sentence.
 */
export function findModels(directory: string): Model[] {
  const root = resolve(directory);
  const names = list(root).filter((name) => !name.startsWith('.') && name !== LOST_AND_FOUND);
  if (isModel(names)) return [readModel(root)];
  const folders = names.filter((name) => statSync(join(root, name)).isDirectory()).toSorted();
  const models = folders.flatMap((name) =>
    list(join(root, name)).some(isModelFile) ? [readModel(join(root, name))] : [],
  );
  if (models.length === 0 && names.length > 0)
    throw new ConfigFault(
      `SPEECH_MODEL_DIR names ${root}, which contains no speech model (.onnx files and a tokens.txt).`,
    );
  return models;
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    throw new ConfigFault(
      `SPEECH_MODEL_DIR names ${directory}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}

/** Whether a directory with these files is a model itself. */
export function isModel(names: readonly string[]): boolean {
  return names.some(isModelFile) || names.includes(DESCRIPTION);
}

/** `known` has priority over the names of the files, and the description of the folder over both. */
export function readModel(folder: string, known: Description = {}): Model {
  const names = list(folder);
  const description = { ...known, ...describe(folder, names) };
  const kind = description.kind ?? kindOf(folder, names);
  const files = filesOf(folder, kind, names);
  const tokens = names.find((name) => name.endsWith('tokens.txt'));
  if (tokens === undefined) throw new ConfigFault(`The speech model in ${folder} has no tokens.txt.`);
  const isEnglish = kind === 'whisper' && Object.values(files).some((file) => /\.en[-.]/.test(basename(file)));
  return {
    name: description.name ?? basename(folder),
    kind,
    languages: description.languages ?? (isEnglish ? ['en'] : (LANGUAGES[kind] ?? [])),
    files,
    tokens: join(folder, tokens),
    ...sizesOf([...Object.values(files), join(folder, tokens)]),
  };
}

function sizesOf(files: readonly string[]): Required<Pick<Model, 'bytes' | 'changedAt'>> {
  const found = files.map((file) => statSync(file));
  return {
    bytes: found.reduce((sum, { size }) => sum + size, 0),
    changedAt: Math.max(...found.map(({ mtimeMs }) => mtimeMs)),
  };
}

function describe(folder: string, names: readonly string[]): Description {
  if (!names.includes(DESCRIPTION)) return {};
  const file = join(folder, DESCRIPTION);
  try {
    const result = Description.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    throw new ConfigFault(
      `${file}: ${issue?.path.join('.') ?? ''} is wrong; "kind" is one of ${KINDS.join(', ')}, "languages" a list like ["ru"].`,
    );
  } catch (error) {
    if (error instanceof ConfigFault) throw error;
    throw new ConfigFault(`${file} cannot be read as JSON.`);
  }
}

function kindOf(folder: string, names: readonly string[]): Kind {
  const models = names.filter(isModelFile);
  const joined = [basename(folder), ...models].join(' ');
  const byName = NAMES.find(([pattern]) => pattern.test(joined))?.[1];
  if (byName !== undefined) return byName;
  if (matches(FILES.transducer[0]!, models)) return 'transducer';
  if (FILES.moonshine.some((files) => matches(files, models))) return 'moonshine';
  // Whisper's files all begin with the size: tiny-encoder.onnx, tiny-decoder.onnx, tiny-tokens.txt.
  if (matches(FILES.whisper[0]!, models) && names.some((name) => /^.+-tokens\.txt$/.test(name))) return 'whisper';
  throw new ConfigFault(
    `The file names in ${folder} do not show the kind of its speech model: write { "kind": "…" } into its ${DESCRIPTION}, one of ${KINDS.join(', ')}.`,
  );
}

function filesOf(folder: string, kind: Kind, names: readonly string[]): Record<string, string> {
  const models = names.filter(isModelFile);
  const wanted = FILES[kind].find((files) => matches(files, models));
  if (wanted === undefined) {
    const needed = FILES[kind].map((files) => Object.keys(files).join(', ')).join(' or ');
    throw new ConfigFault(
      `The speech model in ${folder} is of the kind ${kind} and lacks files: it needs ${needed}, each an .onnx file.`,
    );
  }
  return Object.fromEntries(
    Object.entries(wanted).map(([part, pattern]) => [part, join(folder, best(models, pattern)!)]),
  );
}

function matches(files: Readonly<Record<string, RegExp>>, names: readonly string[]): boolean {
  return Object.values(files).every((pattern) => best(names, pattern) !== undefined);
}

/** Prefers the quantized file of a part: it is several times faster and hardly less accurate. */
function best(names: readonly string[], pattern: RegExp): string | undefined {
  const matching = names.filter((name) => pattern.test(name)).toSorted();
  return matching.find((name) => name.includes('int8')) ?? matching[0];
}

export function isModelFile(name: string): boolean {
  return /\.(onnx|ort)$/.test(name);
}
