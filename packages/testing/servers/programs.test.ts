import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { fetchOnce, ProgramMissing, programsDirectory } from './programs.ts';

let env: Record<string, string>;

beforeEach(async () => {
  env = { XDG_CACHE_HOME: await mkdtemp(join(tmpdir(), 'call-analysis-cache-')) };
});

afterEach(() => rm(env['XDG_CACHE_HOME']!, { recursive: true, force: true }));

it('a failed fetch is repeated in an empty folder, and leaves nothing behind', async () => {
  const found: string[][] = [];
  const folder = await fetchOnce(
    'tool-1',
    env,
    async (target) => {
      found.push(await readdir(target));
      await writeFile(join(target, `part-${found.length}`), '');
      if (found.length < 3) throw new Error('connection reset by peer');
    },
    [1, 1],
  );
  expect(found).toEqual([[], [], []]);
  expect(await readdir(folder)).toEqual(['part-3']);
  expect(await readdir(programsDirectory(env))).toEqual(['tool-1']);
});

it('a fetch that fails repeatedly is given up with the last reason', async () => {
  let tries = 0;
  const fetching = fetchOnce(
    'tool-1',
    env,
    async () => {
      throw new Error(`connection ${(tries += 1)} reset by peer`);
    },
    [1, 1],
  );
  await expect(fetching).rejects.toThrow('connection 3 reset by peer');
  expect(await readdir(programsDirectory(env))).toEqual([]);
});

it('a missing program is reported without delay', async () => {
  let tries = 0;
  const fetching = fetchOnce('tool-1', env, async () => {
    tries += 1;
    throw new ProgramMissing('go');
  });
  await expect(fetching).rejects.toThrow(ProgramMissing);
  expect(tries).toBe(1);
});

it('a fetched program is not fetched again', async () => {
  const once = await fetchOnce('tool-1', env, (target) => writeFile(join(target, 'tool'), ''));
  expect(await fetchOnce('tool-1', env, () => Promise.reject(new Error('fetched again')))).toBe(once);
});
