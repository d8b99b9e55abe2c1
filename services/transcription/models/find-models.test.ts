import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ConfigFault } from '@call-analysis/runtime';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findModels } from './find-models.ts';
import { sherpaConfig } from './model.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'call-analysis-models-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(folder: string, names: readonly string[], description?: object | string): Promise<void> {
  await mkdir(join(root, folder), { recursive: true });
  for (const name of names) await writeFile(join(root, folder, name), '');
  if (description === undefined) return;
  await writeFile(
    join(root, folder, 'model.json'),
    typeof description === 'string' ? description : JSON.stringify(description),
  );
}

const whisper = [
  'tiny-encoder.int8.onnx',
  'tiny-encoder.onnx',
  'tiny-decoder.int8.onnx',
  'tiny-decoder.onnx',
  'tiny-tokens.txt',
];
const transducer = ['encoder.int8.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt'];

describe('a directory of speech models', () => {
  it.each([
    ['whisper-tiny', whisper, 'whisper', []],
    ['some-model', whisper, 'whisper', []],
    ['some-model', whisper.map((name) => name.replace('tiny', 'tiny.en')), 'whisper', ['en']],
    ['some-model', transducer, 'transducer', []],
    ['sherpa-onnx-nemo-transducer-giga-am-v2-russian', transducer, 'gigaam', ['ru']],
    ['gigaam-ctc', ['model.int8.onnx', 'tokens.txt'], 'gigaam', ['ru']],
    ['sherpa-onnx-sense-voice', ['model.int8.onnx', 'tokens.txt'], 'sense_voice', []],
    [
      'some-model',
      ['preprocess.onnx', 'encode.int8.onnx', 'uncached_decode.int8.onnx', 'cached_decode.int8.onnx', 'tokens.txt'],
      'moonshine',
      ['en'],
    ],
    ['some-model', ['encoder_model.ort', 'decoder_model_merged.ort', 'tokens.txt'], 'moonshine', ['en']],
  ] as const)('%s with %j is of the kind %s', async (folder, names, kind, languages) => {
    await put(folder, names);
    const [model, ...others] = findModels(root);
    expect(others).toEqual([]);
    expect(model).toMatchObject({ name: folder, kind, languages });
    expect(findModels(join(root, folder))).toEqual([model]);
    for (const file of Object.values(model!.files))
      expect([dirname(file), (names as readonly string[]).includes(basename(file))]).toEqual([
        join(root, folder),
        true,
      ]);
    const config = sherpaConfig(model!, model!.tokens!, { numThreads: 2, provider: 'cpu' });
    expect(Object.values(config)).toContainEqual(expect.objectContaining(model!.files));
    expect(config).toMatchObject({ tokens: model!.tokens, numThreads: 2 });
  });

  it('yields one file for each part of a model, the quantized one where there are two', async () => {
    await put('whisper', whisper);
    const [model] = findModels(root);
    expect(Object.fromEntries(Object.entries(model!.files).map(([part, file]) => [part, basename(file)]))).toEqual({
      encoder: 'tiny-encoder.int8.onnx',
      decoder: 'tiny-decoder.int8.onnx',
    });
  });

  it('may contain several models, each with a description where its names are not enough', async () => {
    await put('b', ['model.onnx', 'tokens.txt'], { kind: 'nemo_ctc', name: 'Kyrgyz', languages: ['ky'] });
    await put('a', transducer, { languages: ['uz'] });
    await put('notes', ['readme.txt']);
    expect(findModels(root)).toMatchObject([
      { name: 'a', kind: 'transducer', languages: ['uz'] },
      { name: 'Kyrgyz', kind: 'nemo_ctc', languages: ['ky'] },
    ]);
  });

  it.each([
    ['nothing', [], undefined, 'contains no speech model'],
    ['only tokens', ['tokens.txt'], undefined, 'contains no speech model'],
    ['no tokens', ['encoder.onnx', 'decoder.onnx', 'joiner.onnx'], undefined, 'no tokens.txt'],
    [
      'names that do not show the kind',
      ['model.onnx', 'tokens.txt'],
      undefined,
      'write { "kind": "…" } into its model.json',
    ],
    ['an unknown kind', ['model.onnx', 'tokens.txt'], { kind: 'magic' }, 'kind is wrong; "kind" is one of moonshine'],
    [
      'languages by name',
      ['model.onnx', 'tokens.txt'],
      { kind: 'nemo_ctc', languages: ['Russian'] },
      'languages.0 is wrong',
    ],
    ['a description that is not JSON', ['model.onnx', 'tokens.txt'], 'kind: whisper', 'cannot be read as JSON'],
    [
      'a missing part',
      ['encoder.onnx', 'decoder.onnx', 'tokens.txt'],
      { kind: 'transducer' },
      'needs encoder, decoder, joiner',
    ],
  ])('with %s is refused with one sentence', async (_, names, description, message) => {
    await put('model', names, description);
    expect(() => findModels(root)).toThrow(ConfigFault);
    expect(() => findModels(root)).toThrow(message);
  });

  it('that does not exist is refused with one sentence', () => {
    expect(() => findModels(join(root, 'nowhere'))).toThrow('which cannot be read (ENOENT)');
  });
});
