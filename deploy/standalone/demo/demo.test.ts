import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { long } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ModelServer } from '../../../services/analysis/test/model-server.ts';
import { eventually } from '../test/client/retry.ts';
import { startCommand, postgresOf, run } from '../test/system/command.ts';

/** A temporary folder for the demo alone, so that leftover files are found. */
let TMPDIR: string;
beforeAll(async () => {
  TMPDIR = await mkdtemp(join(tmpdir(), 'call-analysis-demo-test-'));
});
afterAll(async () => {
  await rm(TMPDIR, { recursive: true, force: true });
});

async function directory(): Promise<string | undefined> {
  const name = (await readdir(TMPDIR)).find((each) => each.startsWith('call-analysis-demo-'));
  return name === undefined ? undefined : join(TMPDIR, name);
}

describe('the demo', () => {
  it('prints a table of scored calls and explains the best and the worst, and leaves no files', async () => {
    // The demo ignores settings that are meant for the real service.
    const { child, outcome } = startCommand('demo/main.ts', ['--exit'], {
      TMPDIR,
      DATABASE_URL: 'postgresql://127.0.0.1:1/real',
      PORT: '1',
      LLM_URL: '',
    });
    const seen = eventually(async () => postgresOf((await directory()) ?? '')).catch(() => null);
    // Transcribing the recordings takes long. A short run stops once the uploaded transcripts are shown.
    if (!long) {
      let shown = '';
      child.stdout!.on('data', function look(text: string) {
        shown += text;
        if (!shown.includes('Worst call')) return;
        child.stdout!.off('data', look);
        void seen.then(() => child.kill('SIGINT'));
      });
    }
    const { code, stdout, stderr } = await outcome;
    expect([code, stderr, child.signalCode]).toEqual([0, '', null]);
    expect(stdout).toMatch(/^score .* call .* lang .* operator/m);
    expect(stdout.match(/^ *\d+\.\d {2}#* /gm)!.length).toBeGreaterThanOrEqual(40);
    for (const language of ['en', 'ru', 'uz', 'ky', 'es']) expect(stdout).toMatch(new RegExp(` ${language} `));
    expect(stdout).toMatch(/^Best call: .+ points for 3 of 15 questions$/m);
    expect(stdout).toMatch(/^Worst call: .+ points for 3 of 15 questions$/m);
    expect(stdout).toMatch(/^ {2}Open: Did the operator find out what the client needs\?/m);
    expect(stdout).toMatch(/^ {2}export LLM_URL=\S+\n {2}export LLM_MODEL=\S+$/m);
    expect(stdout).toMatch(/“.+” \(utterance \d+\)/);
    if (long) {
      for (const file of ['lost-parcel.wav', 'double-charge.mp3', 'new-router.flac'])
        expect(stdout).toContain(`${file}: The recording was accepted`);
      expect(stdout).toContain('61 of 61 calls scored');
      expect(stdout).toMatch(
        /^Transcript of recording-en-01 by moonshine-tiny:\n {3}0:00 {2}operator {2}Good morning, thank you for calling/m,
      );
    }
    expect(await readdir(TMPDIR)).toEqual([]);
    const postgres = await seen;
    expect(postgres).not.toBeNull();
    expect(() => process.kill(postgres!, 0)).toThrow('ESRCH');
  }, 600_000);

  it('has the language model that LLM_URL names answer every question', async () => {
    const server = await new ModelServer().listen();
    try {
      const { child, outcome } = startCommand('demo/main.ts', ['--exit'], {
        TMPDIR,
        LLM_URL: server.url,
        LLM_MODEL: 'test-model',
      });
      let shown = '';
      child.stdout!.on('data', function look(text: string) {
        shown += text;
        if (!shown.includes('Worst call')) return;
        child.stdout!.off('data', look);
        child.kill('SIGINT');
      });
      const { code, stdout } = await outcome;
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Best call: .+ points for 15 of 15 questions$/m);
      expect(stdout).not.toMatch(/Open:|export LLM_URL/);
      expect(server.requests.length).toBeGreaterThanOrEqual(53);
    } finally {
      await server.close();
    }
    expect(await readdir(TMPDIR)).toEqual([]);
  }, 600_000);

  it('exits with 0 and leaves no files when it is interrupted before the table is shown', async () => {
    const { child, outcome } = startCommand('demo/main.ts', ['--exit'], { TMPDIR });
    await eventually(async () => postgresOf((await directory()) ?? ''), 10);
    child.kill('SIGINT');
    expect(await outcome).toMatchObject({ code: 0, stderr: '' });
    expect(await readdir(TMPDIR)).toEqual([]);
  });

  it('exits with 2 and prints its usage on an unknown option, and exits with 0 on --help', async () => {
    const refused = await run('demo/main.ts', ['--nonsense'], { TMPDIR });
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/--nonsense[\s\S]*Usage: npm run demo/),
    });
    expect(await run('demo/main.ts', ['--help'], { TMPDIR })).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('Usage: npm run demo'),
    });
    expect(await readdir(TMPDIR)).toEqual([]);
  });
});
