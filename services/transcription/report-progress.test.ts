import { createLog } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { reporting } from './report-progress.ts';

const log = createLog({ name: 'test', level: 'silent' });

async function told(duration: number, heard: readonly (readonly [atMs: number, seconds: number])[]): Promise<number[]> {
  const said: number[] = [];
  let now = 0;
  const progress = reporting(
    duration,
    async (seconds) => void said.push(seconds),
    log,
    () => now,
  );
  progress.begin();
  for (const [at, seconds] of heard) {
    now = at;
    progress.heard(seconds);
  }
  await progress.end();
  return said;
}

describe('progress', () => {
  it('of a short recording is told at its beginning alone', async () => {
    expect(
      await told(60, [
        [500, 20],
        [1000, 40],
        [1500, 60],
      ]),
    ).toEqual([0]);
  });

  it('of a long one is told at tenths, but not twice within five seconds', async () => {
    const heard = Array.from({ length: 720 }, (_, index) => [index * 1000, index * 10] as const);
    const said = await told(7200, heard);
    expect(said).toEqual([0, 720, 1440, 2160, 2880, 3600, 4320, 5040, 5760, 6480]);
    expect(
      await told(
        7200,
        heard.map(([at, seconds]) => [at / 72, seconds] as const),
      ),
    ).toEqual([0, 3600]);
  });

  it('that cannot be told fails nothing', async () => {
    const progress = reporting(100, () => Promise.reject(new Error('no database')), log);
    progress.begin();
    await expect(progress.end()).resolves.toBeUndefined();
  });
});
