import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../testing/wait-until.ts';

function begin(variables: Record<string, string> = {}, ...args: string[]) {
  const file = fileURLToPath(new URL('../test/service-under-test.ts', import.meta.url));
  const env = {
    PATH: process.env['PATH'],
    HEALTH_HOST: '127.0.0.1',
    HEALTH_PORT: '0',
    DRAIN: '0s',
    LOG_LEVEL: 'warn',
    ...variables,
  };
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = once(child, 'close') as Promise<[number | null]>;
  return {
    child,
    async said(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(stdout);
        if (found !== null) return found;
        const over = await Promise.race([once(child.stdout, 'data').then(() => false), closed.then(() => true)]);
        if (over) throw new Error(`it ended without ${pattern}: ${stderr}`);
      }
    },
    async over() {
      const [code] = await closed;
      return { code, stdout, stderr };
    },
  };
}

describe('a process of one service', () => {
  it('prints on standard output that it is ready, with its addresses', async () => {
    const life = begin({ DRAIN: '0s' });
    const [line, health] = await life.said(/^ready served rpc=127\.0\.0\.1:1 health=(http:\/\/127\.0\.0\.1:\d+)$/m);
    expect(line).toBeDefined();
    expect(await (await fetch(`${health}/readyz`)).json()).toEqual({ status: 'ready' });
    life.child.kill('SIGTERM');
    expect((await life.over()).code).toBe(0);
  });

  it('reports that it is stopping, and serves on, for as long as DRAIN', async () => {
    const life = begin({ DRAIN: '1h' });
    const [, health] = await life.said(/health=(\S+)/);
    life.child.kill('SIGTERM');
    const ready = await waitUntil(async () => {
      const answer = await fetch(`${health}/readyz`);
      return answer.status === 503 && answer;
    });
    expect(await ready.json()).toEqual({ status: 'stopping' });
    expect((await fetch(`${health}/healthz`)).status).toBe(200);
    life.child.kill('SIGKILL');
    expect((await life.over()).stdout).not.toContain('closing');
  });

  it('closes when DRAIN is over and exits 0', async () => {
    const life = begin({ DRAIN: '2s' });
    await life.said(/health=(\S+)/);
    const began = performance.now();
    life.child.kill('SIGTERM');
    await life.said(/closing/);
    expect(performance.now() - began).toBeGreaterThan(1_900);
    expect(await life.over()).toMatchObject({ code: 0, stderr: '' });
  });

  it('reports that it is starting until it is ready, and does not drain when it is stopped before', async () => {
    const life = begin({ HOW: 'slow start', HEALTH_PORT: '0', DRAIN: '1h' });
    await life.said(/starting/);
    life.child.kill('SIGTERM');
    const { code, stdout } = await life.over();
    expect(code).toBe(0);
    expect(stdout).toContain('closing');
  });

  it.each([
    [
      'a wrong setting',
      { DRAIN: 'soon', HEALTH_PORT: 'x' },
      [],
      'HEALTH_PORT must be a port from 0 to 65535, not "x".\nDRAIN must be a duration like 500ms, 45s, 30m, 12h or 7d, not "soon".\n',
    ],
    [
      'a part that does not answer at start',
      { HOW: 'no database' },
      [],
      'PostgreSQL does not answer. Try again shortly.\n',
    ],
    ['a right that is missing for migrating', { HOW: 'no right' }, ['migrate'], 'The role may not.\n'],
  ])('says %s in a sentence, and exits 1', async (_name, variables, args, stderr) => {
    expect(await begin(variables as Record<string, string>, ...args).over()).toEqual({ code: 1, stdout: '', stderr });
  });

  it('migrates and exits 0', async () => {
    expect(await begin({}, 'migrate').over()).toEqual({ code: 0, stdout: 'prepared\n', stderr: '' });
  });

  it('explains every variable with --help, and refuses unknown arguments', async () => {
    const { code, stdout } = await begin({}, '--help').over();
    expect(code).toBe(0);
    expect(stdout).toContain('Does nothing.');
    expect(stdout).toMatch(/^ {2}DRAIN \(5s\)\n {6}\S/m);
    expect(await begin({}, 'migrte').over()).toEqual({
      code: 2,
      stdout: '',
      stderr: 'served takes migrate, --help or nothing, not "migrte".\n',
    });
  });
});
