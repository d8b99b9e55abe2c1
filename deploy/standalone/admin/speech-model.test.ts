import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { admin, run, runAdminHere } from '../test/system/command.ts';

let DATA_DIR: string;

beforeAll(async () => {
  DATA_DIR = await mkdtemp(join(tmpdir(), 'call-analysis-models-'));
});
afterAll(() => rm(DATA_DIR, { recursive: true, force: true }));

const command = (...args: string[]) => runAdminHere(['speech-model', ...args], { DATA_DIR });

describe('the admin command for speech models', () => {
  it('lists the models in use and the catalogue, without a database', async () => {
    const listed = await admin<{ directory: string; models: object[]; catalogue: object[] }>(
      { DATA_DIR },
      'speech-model',
      'list',
    );
    expect(listed.directory).toBe(join(DATA_DIR, 'models'));
    expect(listed.models).toEqual([
      expect.objectContaining({ name: 'moonshine-tiny', languages: ['en'], bundled: true }),
    ]);
    expect(listed.catalogue[0]).toEqual({
      name: 'gigaam-multilingual-large',
      description: expect.any(String),
      languages: ['ru', 'uz', 'ky'],
      bytes: expect.any(Number),
      licence: 'MIT',
      source: expect.stringMatching(/^https:/),
      installed: false,
    });
  });

  it('transcribes a sample with the bundled model and prints the text', async () => {
    // A process of its own: the model stays in its memory.
    const { code, stdout } = await run('admin/main.ts', ['speech-model', 'test', 'moonshine-tiny'], { DATA_DIR });
    expect(code).toBe(0);
    const { model, heard } = JSON.parse(stdout) as {
      model: object;
      heard: { heard: string; word_error_rate: number }[];
    };
    expect(model).toMatchObject({ name: 'moonshine-tiny', bundled: true });
    expect(heard).toHaveLength(1);
    expect(heard[0]!.heard).toMatch(/how can I help you/i);
    expect(heard[0]!.word_error_rate).toBeLessThan(0.3);
  });

  it('uses the folder of SPEECH_MODEL_DIR, also when the services are on other machines', async () => {
    const SPEECH_MODEL_DIR = join(DATA_DIR, 'elsewhere');
    const { directory } = await admin<{ directory: string }>({ DATA_DIR, SPEECH_MODEL_DIR }, 'speech-model', 'list');
    expect(directory).toBe(SPEECH_MODEL_DIR);
    const KEY_MANAGEMENT_ADDRESS = 'keys:50051';
    const remote = { KEY_MANAGEMENT_ADDRESS, SPEECH_MODEL_DIR };
    expect((await admin<{ directory: string }>(remote, 'speech-model', 'list')).directory).toBe(SPEECH_MODEL_DIR);
    const { code, stderr } = await runAdminHere(['speech-model', 'list'], { KEY_MANAGEMENT_ADDRESS });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^Set SPEECH_MODEL_DIR to the folder .*\n$/)]);
  });

  it('reports what is wrong in one sentence and exits with 1, or with 2 when it is used wrongly', async () => {
    const archive = join(DATA_DIR, 'page.tar.bz2');
    await writeFile(archive, '<html>Sign in</html>');
    const attempts: [string[], number, RegExp][] = [
      [['add', 'nonsense'], 1, /^There is no model nonsense in the catalogue, and no file of that name\./],
      [['add', archive], 1, /^The file is not an archive: it must be a tar\.bz2/],
      [['add', archive, '--languages', 'Russian'], 2, /They must be codes/],
      [['add', archive, '--kind', 'magic'], 2, /--kind is one of moonshine/],
      [['add', archive, '--firm', 'x'], 2, /--firm is for --retry/],
    ];
    await Promise.all(
      attempts.map(async ([args, code, sentence]) => {
        const outcome = await command(...args);
        expect({ args, code: outcome.code, stdout: outcome.stdout }).toEqual({ args, code, stdout: '' });
        expect(outcome.stderr).toMatch(sentence);
      }),
    );
    expect(await readFile(archive, 'utf8')).toContain('Sign in');
  });
});
