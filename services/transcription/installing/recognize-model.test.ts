import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readCatalogue } from './installed-models.ts';
import { modelFolder, onnxMetadata, recognizeModel, removeUnused } from './recognize-model.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'call-analysis-model-'));
});
afterEach(() => rm(root, { recursive: true }));

/** An ONNX file with nothing but a graph of some bytes and metadata. */
function onnx(metadata: Readonly<Record<string, string>>): Buffer {
  const field = (tag: number, bytes: Buffer) => Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
  const graph = Buffer.concat([Buffer.from([0x3a, 0x80, 0x02]), Buffer.alloc(256, 0xff)]);
  const entries = Object.entries(metadata).map(([key, value]) =>
    field(0x72, Buffer.concat([field(0x0a, Buffer.from(key)), field(0x12, Buffer.from(value))])),
  );
  return Buffer.concat([Buffer.from([0x08, 0x08]), graph, ...entries]);
}

async function put(folder: string, files: Readonly<Record<string, Buffer | string>>): Promise<string> {
  await mkdir(join(root, folder), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(root, folder, name), content);
  return join(root, folder);
}

const ctc = (metadata: Readonly<Record<string, string>>) => ({ 'model.int8.onnx': onnx(metadata), 'tokens.txt': '' });
const transducer = { 'encoder.int8.onnx': '', 'decoder.onnx': '', 'joiner.int8.onnx': '', 'tokens.txt': '' };
const whisper = (metadata: Readonly<Record<string, string>>) => ({
  'x-encoder.onnx': onnx(metadata),
  'x-decoder.onnx': '',
  'x-tokens.txt': '',
});

describe('a model', () => {
  it.each([
    ['sherpa-onnx-zipformer-ru-2024-09-18', transducer, 'transducer', ['ru']],
    ['sherpa-onnx-nemo-transducer-giga-am-v2-russian-2025-04-19', transducer, 'gigaam', ['ru']],
    ['model', ctc({ model_type: 'EncDecCTCModel', is_giga_am: '1' }), 'gigaam', ['ru']],
    ['sherpa-onnx-nemo-fast-conformer-ctc-es-1424', ctc({}), 'nemo_ctc', ['es']],
    ['my-uzbek-model', ctc({ model_type: 'EncDecCTCModelBPE' }), 'nemo_ctc', ['uz']],
    ['kyrgyz', ctc({ model_type: 'zipformer2_ctc' }), 'zipformer_ctc', ['ky']],
    ['model', ctc({ model_type: 'sense_voice_ctc' }), 'sense_voice', []],
    ['model', whisper({ model_type: 'whisper-tiny', is_multilingual: '1' }), 'whisper', []],
    ['model', whisper({ model_type: 'whisper-tiny', is_multilingual: '0' }), 'whisper', ['en']],
    ['sherpa-onnx-paraformer-zh-en-2024', ctc({}), 'paraformer', ['zh', 'en']],
  ] as const)('named %s is recognized: %#', async (name, files, kind, languages) => {
    const folder = await put(name, files);
    expect(await recognizeModel(folder, name, {})).toMatchObject({ name, kind, languages });
  });

  it('is of the kind and languages that are given', async () => {
    const folder = await put('model', ctc({ model_type: 'EncDecCTCModel' }));
    const known = { kind: 'omnilingual', languages: ['uz', 'ky'] } as const;
    expect(await recognizeModel(folder, 'model', known)).toMatchObject(known);
  });

  it.each([
    ['model', ctc({}), 'KIND_UNKNOWN', /Add --kind with one of moonshine/],
    ['model', transducer, 'LANGUAGES_UNKNOWN', /Add --languages/],
    ['model', { 'encoder.onnx': '', 'decoder.onnx': '', 'joiner.onnx': '' }, 'MODEL_INCOMPLETE', /model has no tokens/],
  ])('that is not described by its files is refused with what to add: %s, %#', async (name, files, code, message) => {
    const folder = await put(name, files);
    const refused = recognizeModel(folder, name, {});
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    await expect(refused).rejects.not.toThrow(root);
  });

  it('is found in the only folder of an archive', async () => {
    await put('archive/model/test_wavs', { '0.wav': '' });
    const folder = await put('archive/model', transducer);
    expect(await modelFolder(join(root, 'archive'))).toBe(folder);
    await expect(modelFolder(join(folder, 'test_wavs'))).rejects.toThrow('no .onnx or .ort file');
    await put('archive/other', transducer);
    await expect(modelFolder(join(root, 'archive'))).rejects.toThrow('models in 2 folders (model, other)');
  });

  it('keeps only its quantized parts', async () => {
    const folder = await put('sherpa-onnx-whisper-turbo', {
      'turbo-encoder.onnx': '',
      'turbo-encoder.weights': '',
      'turbo-encoder.int8.onnx': '',
      'turbo-decoder.onnx': '',
      'turbo-tokens.txt': '',
    });
    await removeUnused(folder, await recognizeModel(folder, 'turbo', {}));
    expect((await readdir(folder)).toSorted()).toEqual([
      'turbo-decoder.onnx',
      'turbo-encoder.int8.onnx',
      'turbo-tokens.txt',
    ]);
  });
});

describe('the metadata of an ONNX file', () => {
  it('is read after the weights', async () => {
    const folder = await put('model', { 'a.onnx': onnx({ model_type: 'zipformer2', version: '1' }) });
    expect(Object.fromEntries(await onnxMetadata(join(folder, 'a.onnx')))).toEqual({
      model_type: 'zipformer2',
      version: '1',
    });
  });

  it.each([
    ['an empty file', ''],
    ['text', 'not a model at all, but rather long text'],
    ['a file that is cut off', onnx({ model_type: 'x' }).subarray(0, 270)],
    ['endless numbers', Buffer.alloc(100, 0xff)],
  ])('is empty for %s', async (_, content) => {
    const folder = await put('model', { 'a.onnx': content });
    expect([...(await onnxMetadata(join(folder, 'a.onnx')))].flat().join('')).not.toContain('x');
  });
});

describe('the catalogue', () => {
  it('has GigaAM for Russian, Uzbek and Kyrgyz first, one name for each model, and a digest for every file', () => {
    const catalogue = readCatalogue();
    expect(catalogue[0]).toMatchObject({ kind: 'gigaam', languages: ['ru', 'uz', 'ky'] });
    expect(new Set(catalogue.map(({ name }) => name)).size).toBe(catalogue.length);
    expect(catalogue.map(({ name }) => name)).toContain('whisper-large-v3-turbo');
    for (const { files } of catalogue)
      for (const { sha256, bytes } of files) expect([sha256, bytes]).not.toContain(undefined);
  });
});
