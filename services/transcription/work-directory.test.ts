import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openWorkDirectory } from './work-directory.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'call-analysis-work-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function filesLeft(): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe('the work directory', () => {
  it('stores a recording for this user only, while the work runs', async () => {
    const directory = await openWorkDirectory(root);
    const seen = await directory.withFile(Readable.from(['some ', 'bytes']), async (file) => {
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(file))).mode & 0o777).toBe(0o700);
      return readFile(file, 'utf8');
    });
    expect(seen).toBe('some bytes');
    expect(await filesLeft()).toEqual([]);
    await directory.close();
    expect(await readdir(root)).toEqual([]);
  });

  it('removes the file when the work or the stream fails', async () => {
    const directory = await openWorkDirectory(root);
    await expect(directory.withFile(Readable.from(['x']), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const broken = Readable.from(
      (async function* () {
        yield 'x';
        throw new Error('the store is gone');
      })(),
    );
    await expect(directory.withFile(broken, async () => {})).rejects.toThrow('the store is gone');
    expect(await filesLeft()).toEqual([]);
    await directory.close();
  });

  it('removes the files of a killed process and none of running ones', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    for (const pid of [child.pid, process.pid, process.ppid]) {
      await mkdir(join(root, `hearing-${pid}-abc`));
      await writeFile(join(root, `hearing-${pid}-abc`, 'recording'), 'x');
    }
    await writeFile(join(root, 'moonshine-tiny.tokens.txt'), 'x');
    const first = await openWorkDirectory(root);
    const second = await openWorkDirectory(root);
    // A folder with this process's own pid belongs to an earlier process too, because this one did not create it.
    const left = (await readdir(root)).filter((name) => name.endsWith('-abc') || name.endsWith('.txt'));
    expect(left.toSorted()).toEqual([`hearing-${process.ppid}-abc`, 'moonshine-tiny.tokens.txt'].toSorted());
    expect(await first.withFile(Readable.from(['x']), async () => 'still there')).toBe('still there');
    await first.close();
    await second.close();
  });
});
