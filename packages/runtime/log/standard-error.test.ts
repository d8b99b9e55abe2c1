import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const log = new URL('./log.ts', import.meta.url).href;

function argumentsFor(program: string): string[] {
  const source = `const { createLog } = await import('${log}'); const log = createLog({ name: 'child' }); ${program}`;
  return ['--input-type=module', '-e', source];
}

function begin(program: string): ChildProcessByStdio<Writable, null, Readable> {
  return spawn(process.execPath, argumentsFor(program), { stdio: ['pipe', 'ignore', 'pipe'] });
}

/** All that a process that runs this program has written to its log. */
async function written(program: string): Promise<string> {
  const child = begin(program);
  child.stdin.end();
  let all = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (all += text));
  await once(child, 'close');
  return all;
}

const linesOf = (text: string) => text.split('\n').slice(0, -1);

describe('lines on standard error', () => {
  it.each([
    ['the end', ''],
    ['an exit', 'process.exit(0)'],
    ['an exception', "throw new Error('x')"],
  ])('are all written after %s', async (_, end) => {
    const lines = linesOf(await written(`for (let n = 0; n < 1000; n++) log.info({ n }, 'line'); ${end}`));
    expect(lines.filter((line) => line.includes('"msg":"line"'))).toHaveLength(1000);
  });

  it('are buffered, and written after a moment', async () => {
    // The process runs until its standard input ends, so the lines are not written by its exit.
    const child = begin(`log.info({}, 'one'); log.info({}, 'two'); process.stdin.resume();`);
    const [first] = (await once(child.stderr.setEncoding('utf8'), 'data')) as [string];
    expect(linesOf(first)).toHaveLength(2);
    child.stdin.end();
    await once(child, 'close');
  });

  it('are complete and in order, whatever their length and characters', async () => {
    const program =
      "for (let n = 0; n < 16; n++) log.info({ n, text: (n % 2 ? 'ж€😀' : 'a').repeat((n * 7919) % 30_000) }, 'line');";
    const lines = linesOf(await written(program)).map((line) => JSON.parse(line) as { n: number; text: string });
    expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: 16 }, (_, n) => n));
    expect(lines.every(({ n, text }) => text === (n % 2 ? 'ж€😀' : 'a').repeat((n * 7919) % 30_000))).toBe(true);
  });

  it('are written immediately and in order when one is a warning', async () => {
    const lines = linesOf(
      await written(`log.info({}, 'one'); log.warn({}, 'two'); process.kill(process.pid, 'SIGKILL');`),
    );
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['one', 'two']);
  });

  it('are lost when they cannot be written, as to a full disk or a closed terminal, and the process continues', async () => {
    const unwritable = openSync(fileURLToPath(import.meta.url), 'r');
    try {
      const program =
        "log.warn({}, 'one'); log.error({}, 'two'); log.info({}, 'three'); setImmediate(() => process.exit(3));";
      const child = spawn(process.execPath, argumentsFor(program), { stdio: ['ignore', 'ignore', unwritable] });
      expect(await once(child, 'exit')).toEqual([3, null]);
    } finally {
      closeSync(unwritable);
    }
  });
});
