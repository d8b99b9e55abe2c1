import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

interface ProcessUnderTest {
  readonly child: ChildProcess;
  said(word: string): Promise<void>;
  over(): Promise<{ code: number | null; said: string[]; errors: string }>;
}

function startProcess(how: string, graceMs?: number): ProcessUnderTest {
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
    const run = startProcess('well');
    await run.said('ready');
    run.child.kill(signal);
    expect(await run.over()).toMatchObject({ code: 0, said: ['starting', 'ready', 'closing', 'closed'] });
  });

  it('closes what it opened when the signal comes during start', async () => {
    const run = startProcess('slow start');
    await run.said('starting');
    run.child.kill('SIGTERM');
    expect(await run.over()).toMatchObject({ code: 0, said: ['starting', 'ready', 'closing', 'closed'] });
  });

  it('exits 0 when a signal aborts the start', async () => {
    const run = startProcess('abortable start');
    await run.said('starting');
    run.child.kill('SIGTERM');
    expect(await run.over()).toMatchObject({ code: 0, said: ['starting'] });
  });

  it('abandons a start or a close that takes longer than the grace period, with a sentence and exit 1', async () => {
    for (const how of ['endless start', 'endless close']) {
      const run = startProcess(how, 300);
      await run.said(how === 'endless start' ? 'starting' : 'ready');
      run.child.kill('SIGTERM');
      const { code, errors } = await run.over();
      expect(code).toBe(1);
      expect(errors).toContain('Stopping took longer than 0.3 s and was abandoned.\n');
    }
  });

  it('exits 1 immediately on a second signal', async () => {
    const run = startProcess('endless close', 40_000);
    await run.said('ready');
    run.child.kill('SIGINT');
    await run.said('closing');
    await setTimeout(300);
    run.child.kill('SIGTERM');
    const { code, errors } = await run.over();
    expect(code).toBe(1);
    expect(errors).toContain('Received a second signal');
  });

  it('treats one Ctrl-C that arrives twice, as under npm, as one signal', async () => {
    const run = startProcess('close at the second signal');
    await run.said('ready');
    run.child.kill('SIGINT');
    await run.said('closing');
    run.child.kill('SIGINT');
    expect(await run.over()).toMatchObject({ code: 0, said: ['starting', 'ready', 'closing', 'closed'] });
  });

  it('reports a wrong configuration in one sentence, without a stack, and exits 1', async () => {
    expect(await startProcess('misconfigured').over()).toEqual({
      code: 1,
      said: ['starting'],
      errors: 'PORT must be a port from 0 to 65535, not "x".\n',
    });
  });

  it('logs any other failure to start with its stack, and exits 1', async () => {
    const { code, errors } = await startProcess('broken start').over();
    expect(code).toBe(1);
    expect(JSON.parse(errors)).toMatchObject({
      level: 'error',
      err: { message: 'no such table', stack: expect.stringContaining('process-under-test.ts') },
    });
  });

  it.each(['exception', 'rejection'])('logs an unhandled %s, closes in order and exits 1', async (how) => {
    const { code, said, errors } = await startProcess(how).over();
    expect(code).toBe(1);
    expect(said).toEqual(['starting', 'ready', 'closing', 'closed']);
    expect(errors).toContain('out of nowhere');
  });

  it('logs warnings of Node as JSON lines only', async () => {
    const run = startProcess('warning');
    await run.said('ready');
    run.child.kill('SIGTERM');
    const { code, errors } = await run.over();
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

  it('exits 1 when a part does not close', async () => {
    const run = startProcess('broken close');
    await run.said('ready');
    run.child.kill('SIGTERM');
    const { code, errors } = await run.over();
    expect(code).toBe(1);
    expect(errors).toContain('no disk');
  });
});
