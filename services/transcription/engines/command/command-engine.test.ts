import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { waitUntil } from '@call-analysis/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openPrograms, type TestPrograms, writeScriptedProgram } from '../../test/programs.ts';
import { engineContract, segmentOf } from '../contract.ts';
import type { SpeechEngine } from '../speech-engine.ts';
import { type CommandConfig, commandEngine } from './command-engine.ts';

engineContract('command', async ({ concurrency }) => {
  const programs = await openPrograms();
  const program = await writeScriptedProgram(programs.directory);
  const engine = commandEngine({
    command: [program.path],
    environment: { PATH: '/usr/bin:/bin' },
    workDirectory: join(programs.directory, 'work'),
    concurrency,
    timeoutMs: 600_000,
  });
  return {
    engine,
    returns: (texts, { language, afterMs = 0 } = {}) =>
      program.script({ print: JSON.stringify({ segments: texts, language }), afterMs }),
    hangs: () => program.script({ hang: true }),
    fails: () => program.script({ code: 3 }),
    received: () => program.received(),
    async close() {
      await engine.close();
      await programs.close();
    },
  };
});

describe('command engine', () => {
  let programs: TestPrograms;
  let workDirectory: string;
  const engines: SpeechEngine[] = [];

  beforeEach(async () => {
    programs = await openPrograms();
    workDirectory = join(programs.directory, 'work');
  });

  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    await programs.close();
  });

  async function open(
    source: string,
    rest: readonly string[] = [],
    config: Partial<CommandConfig> = {},
  ): Promise<SpeechEngine> {
    const program = await programs.write('recognizer', source);
    const engine = commandEngine({
      command: [program, ...rest],
      environment: {},
      workDirectory,
      concurrency: 2,
      ...config,
    });
    engines.push(engine);
    return engine;
  }

  function transcribe(engine: SpeechEngine, seconds = 0.5) {
    return engine.transcribe(segmentOf(seconds), { language: null, signal: new AbortController().signal });
  }

  it('is named after its program', async () => {
    expect((await open('')).name).toBe('command:recognizer');
  });

  it('passes the WAV file on standard input when no argument contains {file}', async () => {
    const engine = await open(
      `process.stdin.toArray().then((parts) => {
      const wav = Buffer.concat(parts);
      console.log(wav.toString('latin1', 0, 4), wav.length, process.argv.slice(2).join());
    })`,
      ['-', 'a b'],
    );
    await expect(transcribe(engine)).resolves.toEqual({
      utterances: [{ text: 'RIFF 16044 -,a b', start: 0, end: 0.5 }],
      language: null,
    });
    expect(readdirSync(workDirectory)).toEqual([]);
  });

  it('replaces {file} by the path of a WAV file that only this user can read and that is removed afterwards', async () => {
    const engine = await open(
      `
      const fs = require('node:fs'), path = require('node:path');
      const file = process.argv[2].slice('--in='.length);
      const modes = [file, path.dirname(file)].map((each) => (fs.statSync(each).mode & 0o777).toString(8));
      console.log(file.split('/').slice(-2).join('/'), fs.readFileSync(file).length, modes.join(' '), process.argv[3] === file);
    `,
      ['--in={file}', '{file}'],
    );
    const { utterances } = await transcribe(engine);
    // The next start of the service recognizes leftovers by the folder's name.
    expect(utterances[0]!.text).toMatch(new RegExp(`^hearing-${process.pid}-\\w+/segment\\.wav 16044 600 700 true$`));
    expect(readdirSync(workDirectory)).toEqual([]);
  });

  it('leaves no file behind when the program fails, hangs or is aborted', async () => {
    const hanging = 'setInterval(() => {}, 1000)';
    const impatient = await open(hanging, ['{file}'], { timeoutMs: 100, timeoutMsPerSecond: 0 });
    await expect(transcribe(impatient)).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    const started = join(programs.directory, 'started');
    const engine = await open(`require('node:fs').writeFileSync(${JSON.stringify(started)}, ''); ${hanging}`, [
      '{file}',
    ]);
    const stop = new AbortController();
    const result = engine.transcribe(segmentOf(1), { language: null, signal: stop.signal });
    await waitUntil(() => existsSync(started));
    stop.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    await expect(transcribe(await open('process.exit(1)', ['{file}']))).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
    });
    expect(readdirSync(workDirectory)).toEqual([]);
  });

  it('passes arguments without a shell', async () => {
    const engine = await open('console.log(JSON.stringify(process.argv.slice(2)).slice(1))', [
      '$(touch /no/where)',
      '; exit 1',
      '`id`',
      '*',
    ]);
    const { utterances } = await transcribe(engine);
    expect(utterances[0]!.text).toBe('"$(touch /no/where)","; exit 1","`id`","*"]');
  });

  it('gives the program the configured environment and nothing else', async () => {
    const engine = await open('console.log(Object.keys(process.env).join(), process.env.MODEL)', [], {
      environment: { MODEL: 'small' },
    });
    await expect(transcribe(engine)).resolves.toMatchObject({ utterances: [{ text: 'MODEL small' }] });
  });

  it.each([
    ['plain text', "console.log('good morning\\n  what can I do')", 'good morning what can I do'],
    ['text in JSON', 'console.log(JSON.stringify({ text: "good morning" }))', 'good morning'],
    ['text in braces', "console.log('{noise} good morning')", '{noise} good morning'],
    ['text after a byte order mark', 'console.log(\'\\uFEFF{"text":"good"}\')', 'good'],
    ['bytes that are not UTF-8', 'process.stdout.write(Buffer.from([0x67, 0xff, 0x6f]))', 'g\uFFFDo'],
  ])('accepts %s', async (_name, source, text) => {
    await expect(transcribe(await open(source))).resolves.toEqual({
      utterances: [{ text, start: 0, end: 0.5 }],
      language: null,
    });
  });

  it.each([
    ['truncated JSON', `process.stdout.write('{"text": "hel')`],
    ['JSON of another kind', 'process.stdout.write(\'{"result": 1}\')'],
    ['an empty object', "process.stdout.write('{}')"],
    ['times that are not numbers', `process.stdout.write('{"segments":[{"start":"0","end":1,"text":"x"}]}')`],
  ])('treats %s as a failure, not as text', async (_name, source) => {
    await expect(transcribe(await open(source))).rejects.toMatchObject({ kind: 'unavailable', code: 'ENGINE_FAILED' });
  });

  it('reports how the program failed, and nothing of what it printed, which may be what was said', async () => {
    const engine = await open(
      "console.error('x'.repeat(100_000)); console.error('good morning'); process.exitCode = 7",
    );
    const fault = (await transcribe(engine).catch((error: unknown) => error)) as Error;
    expect(fault).toMatchObject({
      kind: 'unavailable',
      code: 'ENGINE_FAILED',
      message: 'The speech program failed with exit code 7. Run it by hand to see why.',
    });
    expect(inspect(fault)).not.toMatch(/xx|good morning/);
  });

  it('reports the signal that ended the program', async () => {
    const engine = await open("process.kill(process.pid, 'SIGABRT')");
    await expect(transcribe(engine)).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringMatching('SIGABRT'),
    });
  });

  it('reports a program that does not exist or may not be run as a configuration error', async () => {
    for (const program of [join(programs.directory, 'nowhere'), 'no-such-program-anywhere', programs.directory]) {
      const engine = commandEngine({
        command: [program],
        environment: { PATH: '/usr/bin:/bin' },
        workDirectory,
        concurrency: 1,
      });
      await expect(transcribe(engine)).rejects.toMatchObject({ kind: 'unavailable', code: 'ENGINE_MISCONFIGURED' });
    }
  });

  it('lets the program open standard input as a file', async () => {
    const engine = await open("console.log(require('node:fs').readFileSync('/dev/stdin').length)");
    await expect(transcribe(engine)).resolves.toMatchObject({ utterances: [{ text: '16044' }] });
  });

  it('accepts a program that does not read its input', async () => {
    const engine = await open("require('node:fs').closeSync(0); console.log('read enough')");
    await expect(transcribe(engine, 30)).resolves.toMatchObject({ utterances: [{ text: 'read enough' }] });
  });

  it('gives a long segment more time', async () => {
    // Answers only long segments, and later than the time limit of short ones.
    const source = `
      const isLong = require('node:fs').fstatSync(0).size > 100_000;
      setTimeout(() => isLong && console.log('done'), isLong ? 500 : 600_000);
    `;
    const engine = await open(source, [], { timeoutMs: 100, timeoutMsPerSecond: 12_000 });
    await expect(transcribe(engine, 0.1)).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    await expect(transcribe(engine, 10)).resolves.toMatchObject({ utterances: [{ text: 'done' }] });
  });

  it('stops a program that prints endlessly', async () => {
    const engine = await open(
      "const part = 'x'.repeat(65_536); const more = () => process.stdout.write(part, more); more()",
      [],
      { timeoutMs: 600_000 },
    );
    await expect(transcribe(engine)).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringMatching('printed more'),
    });
  });

  it("ends the program's child processes too, even those that ignore SIGTERM", async () => {
    const pids = join(programs.directory, 'pids');
    const stubborn = `
      process.on('SIGTERM', () => {});
      require('node:fs').appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');
      setInterval(() => {}, 1000);
    `;
    const engine = await open(
      `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}], { stdio: 'inherit' }); ${stubborn}`,
    );
    const stop = new AbortController();
    const result = engine.transcribe(segmentOf(1), { language: null, signal: stop.signal });
    const started = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : []);
    await waitUntil(() => started().length === 2);
    stop.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
    await waitUntil(() => !started().some(isAlive));
  });

  it('does not wait for a child process that outlives its program and holds its output', async () => {
    // Waiting for it would exceed the engine's time limit.
    const engine = await open(`
      require('node:child_process').spawn('sleep', ['300'], { stdio: 'inherit', env: { PATH: '/usr/bin:/bin' } }).unref();
      console.log('good morning');
      process.exit();
    `);
    await expect(transcribe(engine)).resolves.toMatchObject({ utterances: [{ text: 'good morning' }] });
  });

  it('creates its work directory so that only this user can enter it', async () => {
    await transcribe(await open('', ['{file}']));
    expect(statSync(workDirectory).mode & 0o777).toBe(0o700);
  });
});

/** A zombie counts as ended. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
