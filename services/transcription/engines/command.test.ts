import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '@call-analysis/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SpeechEngine } from '../engine.ts';
import { type CommandConfig, commandEngine } from './command.ts';
import { engineContract, pieceOf } from './contract.ts';
import { openPrograms, type ProgramsForTest, writeCountedProgram } from './program-under-test.ts';

engineContract('command', async ({ concurrency }) => {
  const programs = await openPrograms();
  const program = await writeCountedProgram(programs.directory);
  const engine = commandEngine({
    command: [program.path],
    environment: { PATH: '/usr/bin:/bin' },
    workDirectory: join(programs.directory, 'work'),
    concurrency,
    timeoutMs: 600_000,
  });
  return {
    engine,
    says: (heard, { language, afterMs = 0 } = {}) =>
      program.does({ print: JSON.stringify({ segments: heard, language }), afterMs }),
    hangs: () => program.does({ hang: true }),
    fails: () => program.does({ code: 3 }),
    seen: () => program.seen(),
    async close() {
      await engine.close();
      await programs.close();
    },
  };
});

describe('command engine', () => {
  let programs: ProgramsForTest;
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
    const program = await programs.write('recogniser', source);
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

  function hear(engine: SpeechEngine, seconds = 0.5) {
    return engine.hear(pieceOf(seconds), { language: null, signal: new AbortController().signal });
  }

  it('is named after its program', async () => {
    expect((await open('')).name).toBe('command:recogniser');
  });

  it('gives the WAV on standard input when no argument has {file}', async () => {
    const engine = await open(
      `process.stdin.toArray().then((parts) => {
      const wav = Buffer.concat(parts);
      console.log(wav.toString('latin1', 0, 4), wav.length, process.argv.slice(2).join());
    })`,
      ['-', 'a b'],
    );
    await expect(hear(engine)).resolves.toEqual({
      utterances: [{ text: 'RIFF 16044 -,a b', start: 0, end: 0.5 }],
      language: null,
    });
    expect(readdirSync(workDirectory)).toEqual([]);
  });

  it('gives the path of a WAV file where an argument has {file}, readable by nobody else and gone afterwards', async () => {
    const engine = await open(
      `
      const fs = require('node:fs'), path = require('node:path');
      const file = process.argv[2].slice('--in='.length);
      const modes = [file, path.dirname(file)].map((each) => (fs.statSync(each).mode & 0o777).toString(8));
      console.log(file.split('/').slice(-2).join('/'), fs.readFileSync(file).length, modes.join(' '), process.argv[3] === file);
    `,
      ['--in={file}', '{file}'],
    );
    const { utterances } = await hear(engine);
    // The folder's name is what the service's next start knows leftovers by.
    expect(utterances[0]!.text).toMatch(new RegExp(`^hearing-${process.pid}-\\w+/piece\\.wav 16044 600 700 true$`));
    expect(readdirSync(workDirectory)).toEqual([]);
  });

  it('leaves no file behind when the program fails, hangs or is stopped', async () => {
    const hanging = 'setInterval(() => {}, 1000)';
    const hurried = await open(hanging, ['{file}'], { timeoutMs: 100, timeoutMsPerSecond: 0 });
    await expect(hear(hurried)).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    const begun = join(programs.directory, 'begun');
    const engine = await open(`require('node:fs').writeFileSync(${JSON.stringify(begun)}, ''); ${hanging}`, ['{file}']);
    const stop = new AbortController();
    const heard = engine.hear(pieceOf(1), { language: null, signal: stop.signal });
    await waitUntil(() => existsSync(begun));
    stop.abort(new Error('enough'));
    await expect(heard).rejects.toThrow('enough');
    await expect(hear(await open('process.exit(1)', ['{file}']))).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    expect(readdirSync(workDirectory)).toEqual([]);
  });

  it('shows arguments to no shell', async () => {
    const engine = await open('console.log(JSON.stringify(process.argv.slice(2)).slice(1))', [
      '$(touch /no/where)',
      '; exit 1',
      '`id`',
      '*',
    ]);
    const { utterances } = await hear(engine);
    expect(utterances[0]!.text).toBe('"$(touch /no/where)","; exit 1","`id`","*"]');
  });

  it('shows the program the environment it was given and no more', async () => {
    const engine = await open('console.log(Object.keys(process.env).join(), process.env.MODEL)', [], {
      environment: { MODEL: 'small' },
    });
    await expect(hear(engine)).resolves.toMatchObject({ utterances: [{ text: 'MODEL small' }] });
  });

  it.each([
    ['bare text', "console.log('good morning\\n  what can I do')", 'good morning what can I do'],
    ['text in JSON', 'console.log(JSON.stringify({ text: "good morning" }))', 'good morning'],
    ['text in braces', "console.log('{noise} good morning')", '{noise} good morning'],
    ['text behind a byte order mark', 'console.log(\'\\uFEFF{"text":"good"}\')', 'good'],
    ['bytes that are no UTF-8', 'process.stdout.write(Buffer.from([0x67, 0xff, 0x6f]))', 'g\uFFFDo'],
  ])('takes %s', async (_name, source, text) => {
    await expect(hear(await open(source))).resolves.toEqual({
      utterances: [{ text, start: 0, end: 0.5 }],
      language: null,
    });
  });

  it.each([
    ['truncated JSON', `process.stdout.write('{"text": "hel')`],
    ['JSON of another kind', 'process.stdout.write(\'{"result": 1}\')'],
    ['an empty object', "process.stdout.write('{}')"],
    ['times that are no numbers', `process.stdout.write('{"segments":[{"start":"0","end":1,"text":"x"}]}')`],
  ])('takes %s for a failure, not for words', async (_name, source) => {
    await expect(hear(await open(source))).rejects.toMatchObject({ kind: 'unavailable', code: 'ENGINE_FAILED' });
  });

  it('says how the program failed, and what it complained of to the log alone', async () => {
    const engine = await open(
      "console.error('x'.repeat(100_000)); console.error('no model at /models/en'); process.exitCode = 7",
    );
    const fault = (await hear(engine).catch((error: unknown) => error)) as Error;
    expect(fault).toMatchObject({
      kind: 'unavailable',
      code: 'ENGINE_FAILED',
      message: 'The speech program failed with exit code 7.',
    });
    expect((fault.cause as Error).message).toMatch(/no model at \/models\/en$/);
    expect((fault.cause as Error).message.length).toBeLessThanOrEqual(4096);
  });

  it('says when the program was killed by the system', async () => {
    const engine = await open("process.kill(process.pid, 'SIGABRT')");
    await expect(hear(engine)).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringMatching('SIGABRT'),
    });
  });

  it('asks the operator to check a program that is not there or may not be run', async () => {
    for (const program of [join(programs.directory, 'nowhere'), 'no-such-program-anywhere', programs.directory]) {
      const engine = commandEngine({
        command: [program],
        environment: { PATH: '/usr/bin:/bin' },
        workDirectory,
        concurrency: 1,
      });
      await expect(hear(engine)).rejects.toMatchObject({ kind: 'unavailable', code: 'ENGINE_MISCONFIGURED' });
    }
  });

  it('lets the program read standard input as the file that it is', async () => {
    const engine = await open("console.log(require('node:fs').readFileSync('/dev/stdin').length)");
    await expect(hear(engine)).resolves.toMatchObject({ utterances: [{ text: '16044' }] });
  });

  it('does not mind a program that leaves its input unread', async () => {
    const engine = await open("require('node:fs').closeSync(0); console.log('heard enough')");
    await expect(hear(engine, 30)).resolves.toMatchObject({ utterances: [{ text: 'heard enough' }] });
  });

  it('gives a long piece more time', async () => {
    // Answers what is long alone, and later than it would have to answer what is short.
    const source = `
      const isLong = require('node:fs').fstatSync(0).size > 100_000;
      setTimeout(() => isLong && console.log('done'), isLong ? 500 : 600_000);
    `;
    const engine = await open(source, [], { timeoutMs: 100, timeoutMsPerSecond: 3000 });
    await expect(hear(engine, 0.1)).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
    await expect(hear(engine, 10)).resolves.toMatchObject({ utterances: [{ text: 'done' }] });
  });

  it('stops a program that prints without end', async () => {
    const engine = await open(
      "const part = 'x'.repeat(65_536); const more = () => process.stdout.write(part, more); more()",
      [],
      { timeoutMs: 600_000 },
    );
    await expect(hear(engine)).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringMatching('printed more'),
    });
  });

  it('ends what the program has started too, even what does not listen', async () => {
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
    const heard = engine.hear(pieceOf(1), { language: null, signal: stop.signal });
    const started = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : []);
    await waitUntil(() => started().length === 2);
    stop.abort(new Error('enough'));
    await expect(heard).rejects.toThrow('enough');
    await waitUntil(() => !started().some(isAlive));
  });

  it('does not wait to its end for what outlives its program and holds its output', async () => {
    // Whatever waits longer than a moment meets the time limit of the engine.
    const engine = await open(`
      require('node:child_process').spawn('sleep', ['300'], { stdio: 'inherit', env: { PATH: '/usr/bin:/bin' } }).unref();
      console.log('good morning');
      process.exit();
    `);
    await expect(hear(engine)).resolves.toMatchObject({ utterances: [{ text: 'good morning' }] });
  });

  it('makes its work directory for itself alone', async () => {
    await hear(await open('', ['{file}']));
    expect(statSync(workDirectory).mode & 0o777).toBe(0o700);
  });
});

/** A zombie that nobody has waited for yet does no harm. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
