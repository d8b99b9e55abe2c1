import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ConfigFault } from '@call-analysis/runtime';
import { fieldsOf, varintAt } from '../models/faster-decoder.ts';
import { isModelFile, readModel } from '../models/find-models.ts';
import { type Kind, KINDS, type Model } from '../models/model.ts';
import { modelFault } from './model-fault.ts';

export interface Known {
  readonly kind?: Kind | undefined;
  readonly languages?: readonly string[] | undefined;
}

/** The type of a model as sherpa-onnx's converters write it. Whisper's begins with its name. */
const TYPES: readonly (readonly [RegExp, Kind])[] = [
  [/^whisper/i, 'whisper'],
  [/^EncDecMultiTaskModel/, 'canary'],
  [/^EncDec.*CTC/, 'nemo_ctc'],
  [/^EncDecRNNT/, 'nemo_transducer'],
  [/^zipformer2?_ctc/, 'zipformer_ctc'],
  [/^sense_voice/, 'sense_voice'],
  [/^paraformer/, 'paraformer'],
  [/^omnilingual/, 'omnilingual'],
  [/^dolphin/, 'dolphin'],
];
/** Kinds that detect the language. A model of another kind without languages would be trusted to. */
const DETECTING: readonly Kind[] = ['whisper', 'sense_voice'];
/** In names of models. "am" is not Amharic there but part of GigaAM, so not every code counts. */
const CODES = ['en', 'ru', 'uz', 'ky', 'es', 'de', 'fr', 'it', 'pt', 'zh', 'ja', 'ko', 'kk', 'tr', 'uk', 'yue'];
const NAMES = new Map(
  CODES.map((code) => [new Intl.DisplayNames('en', { type: 'language' }).of(code)!.toLowerCase(), code]),
);

/** The folder of an unpacked archive that has the model: itself, or one in it. Fault MODEL_NOT_FOUND. */
export async function modelFolder(unpacked: string): Promise<string> {
  const found: string[] = [];
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true });
    if (entries.some((entry) => entry.isFile() && isModelFile(entry.name))) found.push(folder);
    for (const entry of entries) if (entry.isDirectory()) await visit(join(folder, entry.name));
  };
  await visit(unpacked);
  if (found.length === 1) return found[0]!;
  throw modelFault(
    'MODEL_NOT_FOUND',
    found.length === 0
      ? 'There is no .onnx or .ort file in the archive, so it has no model that sherpa-onnx runs.'
      : `The archive has models in ${found.length} folders (${found.map((each) => basename(each)).join(', ')}). Unpack it, and pack the folder of one model.`,
  );
}

/**
 * Finds out the kind of the model in a folder and its languages, by what is known, by its model.json, by names and by
 * what its files say. `name`: of the archive. Faults: KIND_UNKNOWN, LANGUAGES_UNKNOWN, MODEL_INCOMPLETE.
 */
export async function recognizeModel(folder: string, name: string, known: Known): Promise<Model> {
  const metadata = await metadataOf(folder);
  const described = { kind: known.kind ?? typeOf(metadata, `${name} ${basename(folder)}`), name };
  let model: Model;
  try {
    model = readModel(folder, described);
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    if (error.message.includes('do not show the kind')) {
      throw modelFault(
        'KIND_UNKNOWN',
        `The files of ${name} do not show the kind of the model. Add --kind with one of ${KINDS.join(', ')}.`,
      );
    }
    throw modelFault('MODEL_INCOMPLETE', error.message.replaceAll(folder, name), error);
  }
  const languages = known.languages ?? languagesOf(model, metadata, `${name} ${basename(folder)}`);
  if (languages.length === 0 && known.languages === undefined && !DETECTING.includes(model.kind)) {
    throw modelFault(
      'LANGUAGES_UNKNOWN',
      `It is not known which languages ${name} recognizes. Add --languages with their codes, such as --languages ru,uz; the page of the model says which.`,
    );
  }
  return { ...model, languages };
}

/** A quantized model needs no other version of its parts, which are up to four times as large. */
export async function removeUnused(folder: string, model: Model): Promise<void> {
  const quantized = Object.values(model.files)
    .map((file) => basename(file))
    .filter((file) => file.includes('.int8.'));
  for (const file of quantized) {
    const part = file.slice(0, file.indexOf('.int8.'));
    for (const ending of ['.onnx', '.ort', '.weights', '.data', '.onnx.data', '.fp16.onnx'])
      await rm(join(folder, part + ending), { force: true });
  }
}

async function metadataOf(folder: string): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const file of (await readdir(folder)).filter(isModelFile))
    for (const [key, value] of await onnxMetadata(join(folder, file)).catch(() => [])) all.set(key, value);
  return all;
}

/** Names say more about GigaAM than its metadata, which is NeMo's. */
function typeOf(metadata: ReadonlyMap<string, string>, names: string): Kind | undefined {
  if (/giga-?am/i.test(names) || metadata.get('is_giga_am') === '1') return 'gigaam';
  const type = metadata.get('model_type') ?? '';
  return TYPES.find(([pattern]) => pattern.test(type))?.[1];
}

function languagesOf(model: Model, metadata: ReadonlyMap<string, string>, names: string): readonly string[] {
  if (model.languages.length > 0) return model.languages;
  if (model.kind === 'whisper') return metadata.get('is_multilingual') === '0' ? ['en'] : [];
  if (DETECTING.includes(model.kind)) return [];
  const words = names.toLowerCase().split(/[^a-z]+/);
  return [...new Set(words.flatMap((word) => (CODES.includes(word) ? [word] : [NAMES.get(word) ?? []].flat())))];
}

/** Field numbers of ONNX's ModelProto and StringStringEntryProto. */
const METADATA = 14;
const [KEY, VALUE] = [1, 2];
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];
const MAX_ENTRY_BYTES = 64 * 1024;
const MAX_FIELDS = 10_000;

/**
 * The metadata of an ONNX file: names and values that converters for sherpa-onnx write. Reads past the weights, which are
 * one field, so it takes no memory. Empty for a file of another format.
 */
export async function onnxMetadata(file: string): Promise<Map<string, string>> {
  const metadata = new Map<string, string>();
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    let at = 0;
    for (let field = 0; at < size && field < MAX_FIELDS; field++) {
      const { value: tag, end } = await varint(handle, at);
      const number = Math.floor(tag / 8);
      switch (tag % 8) {
        case VARINT:
          at = (await varint(handle, end)).end;
          break;
        case FIXED64:
          at = end + 8;
          break;
        case FIXED32:
          at = end + 4;
          break;
        case BYTES: {
          const { value: length, end: start } = await varint(handle, end);
          if (number === METADATA && length <= MAX_ENTRY_BYTES) {
            const entry = await read(handle, start, length);
            const [key = '', value = ''] = [KEY, VALUE].map((each) => fieldsOf(entry, each).at(-1)?.toString());
            metadata.set(key, value);
          }
          at = start + length;
          break;
        }
        default:
          return metadata;
      }
    }
  } finally {
    await handle.close();
  }
  return metadata;
}

async function varint(handle: FileHandle, at: number): Promise<{ value: number; end: number }> {
  const { value, end } = varintAt(await read(handle, at, 10), 0);
  return { value, end: at + end };
}

async function read(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, at);
  return bytes.subarray(0, bytesRead);
}
