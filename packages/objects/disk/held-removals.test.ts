import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDisk } from './disk.ts';
import { type HeldRemovals, holdRemovals } from './held-removals.ts';

const secret = 'a secret of thirty-two bytes or more';

describe('removals that a backup holds', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'objects-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const hold = async (): Promise<HeldRemovals> => (await holdRemovals(directory))!;
  const filesOf = async (held: HeldRemovals) => {
    const paths: string[] = [];
    for await (const { path } of held.files()) paths.push(path);
    return paths.sort();
  };

  it('leave the store immediately, stay for the backup, and are deleted after it', async () => {
    const disk = await openDisk({ directory, secret });
    const put = (key: string) => disk.put(key, Readable.from([key]));
    await Promise.all([put('a/kept'), put('a/removed')]);
    const held = await hold();
    await disk.remove('a/removed');
    await disk.remove('a/removed');
    await disk.remove('a/never-there');
    expect(await disk.head('a/removed')).toBeNull();
    expect(await filesOf(held)).toEqual(['a+/kept', 'a+/removed']);
    held.check();
    await held.release();
    expect(await readdir(directory)).toEqual(expect.arrayContaining(['.incoming', 'a+']));
    expect(await readdir(directory)).not.toContain('.held');
    await disk.remove('a/kept');
    const next = await hold();
    expect(await filesOf(next)).toEqual([]);
    await next.release();
  });

  it('and what stays are found whatever their keys are', async () => {
    const disk = await openDisk({ directory, secret });
    // On disk, a name of more than 200 characters is in pieces, and the dot begins the second one.
    const keys = ['.hidden', 'a/.hidden', `${'x'.repeat(200)}.csv`, `a/${'x'.repeat(200)}.d/${'y'.repeat(200)}.zip`];
    for (const place of ['kept', 'removed']) {
      for (const key of keys) await disk.put(`${place}/${key}`, Readable.from([key]));
    }
    const held = await hold();
    for (const key of keys) await disk.remove(`removed/${key}`);
    expect(await filesOf(held)).toHaveLength(2 * keys.length);
    await held.release();
  });

  it('are held for one backup at a time', async () => {
    const held = await hold();
    expect(await holdRemovals(directory)).toBeNull();
    await held.release();
    const next = await hold();
    await next.release();
  });

  it('are removed by the store when the backup was killed', async () => {
    const disk = await openDisk({ directory, secret });
    await disk.put('a/removed', Readable.from(['x']));
    const killed = await hold();
    await disk.remove('a/removed');
    expect(await readdir(directory)).toContain('.held');
    const longAgo = new Date(Date.now() - 61_000);
    await utimes(join(directory, '.removals-held'), longAgo, longAgo);
    await openDisk({ directory, secret });
    expect(await readdir(directory)).not.toContain('.held');
    await killed.release();
  });
});
