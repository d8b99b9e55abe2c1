import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLog } from '@call-analysis/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { configuredModels } from '../open-worker-pool.ts';
import { ModelServer } from '../test/model-server.ts';
import { packBundledModel } from '../test/pack-bundled-model.ts';
import { type AddOptions, InstalledModels } from './installed-models.ts';

const tiny = fileURLToPath(new URL('../fixtures/tiny-model.tar.bz2', import.meta.url));
const voices = fileURLToPath(new URL('../fixtures/two-voices.wav', import.meta.url));
const log = createLog({ name: 'test', level: 'silent' });
const server = new ModelServer();
let root: string;
let directory: string;
let installed: InstalledModels;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'call-analysis-models-'));
  await server.open();
});
beforeEach(async () => {
  directory = await mkdtemp(join(root, 'models-'));
  installed = new InstalledModels(directory);
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true });
});

const add = (reference: string, options: Partial<AddOptions> = {}) =>
  installed.add(reference, { environment: {}, pausesMs: [], ...options });

describe('a speech model', () => {
  it('is downloaded, tried and listed, is found by running services, and can be removed again', async () => {
    const { url, sha256 } = server.add('/sherpa-onnx-moonshine-tiny-en.tar.gz', await packBundledModel(root, voices), {
      breaksAfter: [1_000_000],
    });
    const models = configuredModels(directory, log);
    expect(models()).toEqual([]);
    const steps = new Set<string>();
    const added = await add(url, {
      name: 'my-moonshine',
      sha256,
      pausesMs: [1],
      onProgress: (step) => steps.add(step),
    });
    expect([...steps]).toEqual(['downloading sherpa-onnx-moonshine-tiny-en', 'unpacking', 'transcribing samples']);
    const model = { name: 'my-moonshine', kind: 'moonshine', languages: ['en'], source: url };
    expect(added.model).toMatchObject(model);
    expect(added.heard).toMatchObject([
      { sample: 'bundled', language: 'en', heard: expect.stringMatching(/how can I help you/i) },
      {
        sample: '0.wav',
        language: 'en',
        said: 'good afternoon how can i help you today',
        heard: expect.stringMatching(/help/),
      },
    ]);
    expect(added.heard[0]!.word_error_rate).toBeLessThan(0.3);
    expect(installed.list().map(({ name }) => name)).toEqual(['moonshine-tiny', 'my-moonshine']);
    expect(models()).toMatchObject([{ name: 'my-moonshine', kind: 'moonshine', languages: ['en'] }]);
    // Nothing is left of the download.
    expect((await readdir(directory)).toSorted()).toEqual(['.downloads', 'my-moonshine']);
    expect(await readdir(join(directory, '.downloads'))).toEqual([]);

    const again = await installed.test('my-moonshine');
    expect(again.model).toMatchObject(model);
    expect(again.heard.map(({ sample, heard }) => [sample, heard])).toEqual(
      added.heard.map(({ sample, heard }) => [sample, heard]),
    );

    await expect(add(url, { name: 'my-moonshine' })).rejects.toMatchObject({ code: 'MODEL_EXISTS' });
    expect(await installed.remove('my-moonshine')).toMatchObject(model);
    expect(models()).toEqual([]);
    expect(installed.list()).toHaveLength(1);
  });

  it('of the catalogue is downloaded file by file, each with its digest', async () => {
    const file = (name: string) => ({ name, ...server.add(`/files/${name}`, Buffer.from(name)) });
    const listed = {
      name: 'listed',
      description: '',
      kind: 'transducer' as const,
      languages: ['uz'],
      licence: 'MIT',
      source: 'https://example.com/',
      files: ['encoder.onnx', 'decoder.onnx', 'joiner.onnx', 'tokens.txt'].map(file),
    };
    // These are not models, which is found out last.
    await expect(add('listed', { catalogue: [listed] })).rejects.toMatchObject({ code: 'MODEL_UNUSABLE' });
    expect(server.requests).toEqual(expect.arrayContaining(['/files/encoder.onnx', '/files/tokens.txt']));
    const wrong = { ...listed, files: [{ ...listed.files[0]!, sha256: 'b'.repeat(64) }] };
    await expect(add('listed', { catalogue: [wrong] })).rejects.toMatchObject({ code: 'DIGEST_WRONG' });
    expect(configuredModels(directory, log)()).toEqual([]);
  });

  it('that cannot be loaded is not used, and the reason names what to check', async () => {
    const refused = add(tiny);
    await expect(refused).rejects.toMatchObject({ code: 'MODEL_UNUSABLE' });
    await expect(refused).rejects.toThrow(
      /tiny-model cannot be used \(.+\)\. Its files are damaged, or it is of another kind/,
    );
    expect(await readdir(directory)).toEqual(['.downloads']);
  });

  it.each<[string, () => string, Partial<AddOptions>, string, RegExp]>([
    ['an unknown name', () => 'nonsense', {}, 'MODEL_UNKNOWN', /"speech-model list" shows the catalogue/],
    ['a folder', () => root, {}, 'ARCHIVE_UNREADABLE', /is not a file/],
    ['a file that is no archive', () => voices, { name: 'x' }, 'ARCHIVE_UNREADABLE', /must be a tar\.bz2/],
    ['a file with another digest', () => tiny, { sha256: 'c'.repeat(64) }, 'DIGEST_WRONG', /was not used/],
    ['a name that leads elsewhere', () => tiny, { name: '../up' }, 'NAME_WRONG', /cannot be the name of a model/],
    [
      'the name of the bundled model',
      () => tiny,
      { name: 'moonshine-tiny' },
      'MODEL_EXISTS',
      /another name with --name/,
    ],
    [
      'a password in the URL',
      () => 'http://user:secret@127.0.0.1/a.tar.bz2',
      {},
      'DOWNLOAD_FAILED',
      /must not contain/,
    ],
  ])('by %s is refused with what to do next', async (_, reference, options, code, message) => {
    const refused = add(reference(), options);
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    await expect(refused).rejects.not.toThrow('secret');
  });

  it('that was being added when its command was killed leaves nothing behind', async () => {
    await mkdir(join(directory, '.adding-999999999-abc'), { recursive: true });
    await writeFile(join(directory, '.adding-999999999-abc', 'model.onnx'), '');
    expect(configuredModels(directory, log)()).toEqual([]);
    await add(tiny).catch(() => {});
    expect(await readdir(directory)).toEqual(['.downloads']);
  });

  it('is not installed into a folder that is a model itself', async () => {
    await copyFile(tiny, join(directory, 'model.onnx'));
    expect(() => new InstalledModels(directory)).toThrow('which is a model itself');
  });

  it('that is not installed cannot be tried', async () => {
    await expect(installed.test('unknown')).rejects.toMatchObject({ code: 'MODEL_NOT_INSTALLED' });
  });

  it.each(['moonshine-tiny', 'unknown'])('cannot be removed when it is not installed: %s', async (name) => {
    await expect(installed.remove(name)).rejects.toMatchObject({ code: 'MODEL_NOT_INSTALLED' });
  });
});

describe('the models of a running service', () => {
  async function put(name: string, file = 'model.onnx'): Promise<void> {
    await mkdir(join(directory, name), { recursive: true });
    for (const each of [file, 'tokens.txt']) await writeFile(join(directory, name, each), '');
  }

  it('stay as they were while there is a mistake in their directory, which is logged once', async () => {
    const warnings: unknown[] = [];
    const listening = { ...log, warn: (each: unknown) => warnings.push(each), info: () => {} } as unknown as typeof log;
    await put('gigaam-russian');
    const models = configuredModels(directory, listening);
    await put('nameless');
    expect([models(), models()].flat().map(({ name }) => name)).toEqual(['gigaam-russian', 'gigaam-russian']);
    expect(warnings).toEqual([{ reason: expect.stringContaining('do not show the kind') }]);
    await rm(directory, { recursive: true });
    expect(models()).toHaveLength(1);
    await mkdir(directory);
    await put('gigaam-other');
    expect(models()).toMatchObject([{ name: 'gigaam-other' }]);
  });

  it('are others when files are replaced under the same names', async () => {
    await put('gigaam-russian');
    const models = configuredModels(directory, log);
    const [before] = models();
    await writeFile(join(directory, 'gigaam-russian', 'model.onnx'), 'more');
    expect(models()[0]).not.toEqual(before);
  });

  it('are none in a new directory, and a mistake that is there already is an error', async () => {
    expect(configuredModels(directory, log)()).toEqual([]);
    expect(configuredModels(undefined, log)()).toEqual([]);
    await put('nameless');
    expect(() => configuredModels(directory, log)).toThrow('do not show the kind');
    expect(await readFile(join(directory, 'nameless', 'tokens.txt'), 'utf8')).toBe('');
  });
});
