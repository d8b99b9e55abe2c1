import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';

const log = new URL('./log.ts', import.meta.url).href;

/** What a process that runs this program with a log has written, and when, in milliseconds from its start. */
async function written(program: string): Promise<{ text: string; at: number }[]> {
  const source = `const { createLog } = await import('${log}'); const log = createLog({ name: 'child' }); console.log('begun'); ${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'pipe'] });
  const pieces: { text: string; at: number }[] = [];
  let begun = performance.now();
  child.stdout.on('data', () => (begun = performance.now()));
  child.stderr.setEncoding('utf8').on('data', (text: string) => pieces.push({ text, at: performance.now() - begun }));
  await once(child, 'close');
  return pieces;
}

const linesOf = (pieces: { text: string }[]) => pieces.map(({ text }) => text).join('').split('\n').slice(0, -1);

describe('lines on standard error', () => {
  it.each([
    ['the end', ''],
    ['an exit', 'process.exit(0)'],
    ['an exception', "throw new Error('x')"],
  ])('are all there after %s', async (_, end) => {
    const lines = linesOf(await written(`for (let n = 0; n < 1000; n++) log.info({ n }, 'line'); ${end}`));
    expect(lines.filter((line) => line.includes('"msg":"line"'))).toHaveLength(1000);
  });

  it('are gathered, and yet soon there', async () => {
    const pieces = await written(`log.info({}, 'one'); log.info({}, 'two'); setTimeout(() => {}, 3000);`);
    expect(pieces).toHaveLength(1);
    expect(linesOf(pieces)).toHaveLength(2);
    expect(pieces[0]?.at).toBeLessThan(2000);
  });

  it('come whole and in their order, whatever their length and their letters', async () => {
    const program = "for (let n = 0; n < 16; n++) log.info({ n, text: (n % 2 ? 'ж€😀' : 'a').repeat((n * 7919) % 30_000) }, 'line');";
    const lines = linesOf(await written(program)).map((line) => JSON.parse(line) as { n: number; text: string });
    expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: 16 }, (_, n) => n));
    expect(lines.every(({ n, text }) => text === (n % 2 ? 'ж€😀' : 'a').repeat((n * 7919) % 30_000))).toBe(true);
  });

  it('are written at once, in their order, when one is a warning', async () => {
    const lines = linesOf(await written(`log.info({}, 'one'); log.warn({}, 'two'); process.kill(process.pid, 'SIGKILL');`));
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['one', 'two']);
  });
});
