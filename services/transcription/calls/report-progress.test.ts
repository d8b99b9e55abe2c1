import { createLog } from '@call-analysis/runtime';
import { describe, expect, it } from '@jest/globals';
import { progressReporter } from './transcribe-call.ts';

const log = createLog({ name: 'test', level: 'silent' });

async function published(
  duration: number,
  progress: readonly (readonly [atMs: number, seconds: number])[],
): Promise<number[]> {
  const reports: number[] = [];
  let now = 0;
  const reporter = progressReporter(
    duration,
    async (seconds) => void reports.push(seconds),
    log,
    () => now,
  );
  reporter.start();
  for (const [at, seconds] of progress) {
    now = at;
    reporter.advance(seconds);
  }
  await reporter.end();
  return reports;
}

describe('progress', () => {
  it('of a short recording is published only at its start', async () => {
    expect(
      await published(60, [
        [500, 20],
        [1000, 40],
        [1500, 60],
      ]),
    ).toEqual([0]);
  });

  it('of a long recording is published at each tenth, but not twice within five seconds', async () => {
    const progress = Array.from({ length: 720 }, (_, index) => [index * 1000, index * 10] as const);
    expect(await published(7200, progress)).toEqual([0, 720, 1440, 2160, 2880, 3600, 4320, 5040, 5760, 6480]);
    expect(
      await published(
        7200,
        progress.map(([at, seconds]) => [at / 72, seconds] as const),
      ),
    ).toEqual([0, 3600]);
  });

  it('that cannot be published does not fail the transcription', async () => {
    const reporter = progressReporter(100, () => Promise.reject(new Error('no database')), log);
    reporter.start();
    await expect(reporter.end()).resolves.toBeUndefined();
  });
});
