import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

interface Life {
  readonly child: ChildProcess;
  said(word: string): Promise<void>;
  over(): Promise<{ code: number | null; said: string[]; errors: string }>;
}

function live(how: string, graceMs?: number): Life {
  const file = fileURLToPath(new URL('../test/process-under-test.ts', import.meta.url));
  const child = spawn(process.execPath, [file, how, ...(graceMs === undefined ? [] : [String(graceMs)])], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const closed = once(child, 'close') as Promise<[number | null]>;
  return {
    child,
    async said(word) {
      while (!out.includes(word)) {
        await Promise.race([once(child.stdout, 'data'), closed]);
        if (child.exitCode !== null && !out.includes(word)) throw new Error(`it ended without ${word}: ${errors}`);
      }
    },
    async over() {
      const [code] = await closed;
      return { code, said: out.trim().split('\n'), errors };
    },
  };
}

describe('a process', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('closes once and exits 0 on %s', async (signal) => {
    const life = live('well');
    await life.said('ready');
    life.child.kill(signal);
    expect(await life.over()).toMatchObject({ code: 0, said: ['starting', 'ready', 'closing', 'closed'] });
  });

  it('closes what it opened when the signal comes during start', async () => {
    const life = live('slow start');
    await life.said('starting');
    life.child.kill('SIGTERM');
    expect(await life.over()).toMatchObject({ code: 0, said: ['starting', 'ready', 'closing', 'closed'] });
  });

  it('exits 0 when start gives up because it was told to', async () => {
    const life = live('abortable start');
    await life.said('starting');
    life.child.kill('SIGTERM');
    expect(await life.over()).toMatchObject({ code: 0, said: ['starting'] });
  });

  it('abandons a start or a close that outlasts the grace, with a sentence and exit 1', async () => {
    for (const how of ['endless start', 'endless close']) {
      const life = live(how, 300);
      await life.said(how === 'endless start' ? 'starting' : 'ready');
      life.child.kill('SIGTERM');
      const { code, errors } = await life.over();
      expect(code).toBe(1);
      expect(errors).toContain('Stopping took longer than 0.3 s, so what was left was abandoned.\n');
    }
  });

  it('exits 1 at once on a second signal', async () => {
    const life = live('endless close', 40_000);
    await life.said('ready');
    life.child.kill('SIGINT');
    await life.said('closing');
    await setTimeout(300);
    life.child.kill('SIGTERM');
    const { code, errors } = await life.over();
    expect(code).toBe(1);
    expect(errors).toContain('Told to stop a second time');
  });

  it('takes one Ctrl-C that arrives twice, as under npm, for one', async () => {
    const life = live('close at the second signal');
    await life.said('ready');
    life.child.kill('SIGINT');
    await life.said('closing');
    life.child.kill('SIGINT');
    expect(await life.over()).toMatchObject({ code: 0, said: ['starting', 'ready', 'closing', 'closed'] });
  });

  it('says what is wrong with its configuration in one sentence, without a stack, and exits 1', async () => {
    expect(await live('misconfigured').over()).toEqual({
      code: 1,
      said: ['starting'],
      errors: 'PORT must be a port from 0 to 65535, not "x".\n',
    });
  });

  it('logs with its stack what else goes wrong at start, and exits 1', async () => {
    const { code, errors } = await live('broken start').over();
    expect(code).toBe(1);
    expect(JSON.parse(errors)).toMatchObject({
      level: 'error',
      err: { message: 'no such table', stack: expect.stringContaining('process-under-test.ts') },
    });
  });

  it.each(['exception', 'rejection'])('logs an %s that nobody handles, closes in order and exits 1', async (how) => {
    const { code, said, errors } = await live(how).over();
    expect(code).toBe(1);
    expect(said).toEqual(['starting', 'ready', 'closing', 'closed']);
    expect(errors).toContain('out of nowhere');
  });

  it('logs what Node warns of, and writes no bare line beside the log', async () => {
    const life = live('warning');
    await life.said('ready');
    life.child.kill('SIGTERM');
    const { code, errors } = await life.over();
    expect(code).toBe(0);
    const lines = errors
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        err: expect.objectContaining({ message: 'this goes', code: 'DEP0999' }),
      }),
    );
  });

  it('exits 1 when a part did not close', async () => {
    const life = live('broken close');
    await life.said('ready');
    life.child.kill('SIGTERM');
    const { code, errors } = await life.over();
    expect(code).toBe(1);
    expect(errors).toContain('no disk');
  });
});
