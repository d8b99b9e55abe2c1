import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { objectsContract } from '../contract/contract.ts';
import { objectsMemory } from '../contract/memory.ts';
import { openDisk } from './disk.ts';

const secret = 'a secret of thirty-two bytes or more';

async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'objects-'));
}

objectsContract('disk', async () => {
  const directory = await temporaryDirectory();
  return { objects: await openDisk({ directory, secret }), close: () => rm(directory, { recursive: true }) };
});

objectsMemory('disk', async () => {
  const directory = await temporaryDirectory();
  return { config: { store: 'disk', directory, secret }, close: () => rm(directory, { recursive: true }) };
});

describe('disk', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await temporaryDirectory();
  });

  afterAll(() => rm(directory, { recursive: true }));
  afterEach(() => {
    jest.useRealTimers();
  });

  it('keeps the old bytes when the process is killed in the middle of a put', async () => {
    const disk = await openDisk({ directory, secret });
    await disk.put('kill/me', Readable.from([Buffer.from('old')]));
    const program = `
      import { Readable } from 'node:stream';
      import { openDisk } from ${JSON.stringify(fileURLToPath(new URL('./disk.ts', import.meta.url)))};
      const disk = await openDisk(${JSON.stringify({ directory, secret })});
      const endless = async function* () {
        for (let sent = 0; ; sent += 1) {
          yield Buffer.alloc(10_000);
          if (sent === 5) process.stdout.write('writing');
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      };
      await disk.put('kill/me', Readable.from(endless()));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await readdir(join(directory, '.incoming'))).toHaveLength(1);

    const again = await openDisk({ directory, secret });
    expect(await text(await again.open('kill/me'))).toBe('old');
    const keys = [];
    for await (const { key } of again.list('kill/')) keys.push(key);
    expect(keys).toEqual(['kill/me']);
  });

  it('removes the files of dead writers, and not those being written', async () => {
    const incoming = join(directory, '.incoming');
    const disk = await openDisk({ directory, secret });
    const stuck = new Readable({ read() {} });
    stuck.push('half of it');
    const putting = disk.put('being/written', stuck);
    await writeFile(join(incoming, 'lost'), 'x');
    // A modification time that the writer set does not make a file stale.
    await utimes(join(incoming, 'lost'), 0, 0);
    await openDisk({ directory, secret });
    expect(await readdir(incoming)).toContain('lost');
    jest.useFakeTimers({ now: Date.now() + 2 * 3_600_000, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    stuck.push(null);
    await putting;
    await openDisk({ directory, secret });
    expect(await readdir(incoming)).toEqual([]);
    expect(await disk.head('being/written')).toMatchObject({ sizeBytes: 10 });
  });

  it('writes nothing outside its directory, with any key', async () => {
    const parent = await temporaryDirectory();
    const root = join(parent, 'root');
    const disk = await openDisk({ directory: root, secret });
    for (const key of ['..%2f..%2fx', '...', '.incoming', '.incoming/x', 'C:', 'a/..b', '~', '$HOME', '%2e%2e/x']) {
      await disk.put(key, Readable.from(['x']));
    }
    expect(await readdir(parent)).toEqual(['root']);
    expect(await readdir(join(root, '.incoming'))).toEqual([]);
    await rm(parent, { recursive: true });
  });

  it('leaves no empty folders behind, and can put into a folder that is being removed', async () => {
    const root = await temporaryDirectory();
    const disk = await openDisk({ directory: root, secret });
    const churn = Array.from({ length: 40 }, async (_, index) => {
      for (let round = 0; round < 10; round++) {
        await disk.put(`a/b/c/${index}`, Readable.from(['x']));
        await disk.remove(`a/b/c/${index}`);
      }
    });
    await Promise.all(churn);
    expect(await readdir(root)).toEqual(['.incoming']);
    await rm(root, { recursive: true });
  });

  it('removes empty folders that a killed process left below a listed prefix', async () => {
    const root = await temporaryDirectory();
    const disk = await openDisk({ directory: root, secret });
    await disk.put('UZ/one/kept', Readable.from(['x']));
    await disk.put('UZ/two/2026/11/removed', Readable.from(['x']));
    const file = (await readdir(root, { recursive: true })).find((name) => /removed[^/]*$/.test(name))!;
    await rm(join(root, file));
    const keys = async (prefix: string) => (await Array.fromAsync(disk.list(prefix))).map(({ key }) => key);
    expect(await keys('UZ/two/')).toEqual([]);
    expect((await readdir(root, { recursive: true })).filter((name) => name.includes('two'))).toEqual([]);
    expect(await keys('UZ/')).toEqual(['UZ/one/kept']);
    await disk.put('UZ/two/again', Readable.from(['x']));
    expect((await keys('UZ/')).toSorted()).toEqual(['UZ/one/kept', 'UZ/two/again']);
    await rm(root, { recursive: true });
  });

  it('stores a key and keys below it', async () => {
    const disk = await openDisk({ directory, secret });
    for (const key of ['tree/a', 'tree/a/b']) await disk.put(key, Readable.from([key]));
    for (const key of ['tree/a', 'tree/a/b']) expect(await text(await disk.open(key))).toBe(key);
    const keys = [];
    for await (const { key } of disk.list('tree/')) keys.push(key);
    expect(keys.sort()).toEqual(['tree/a', 'tree/a/b']);
  });

  it('is not ready when its directory is gone', async () => {
    const root = await temporaryDirectory();
    const disk = await openDisk({ directory: root, secret });
    await rm(root, { recursive: true });
    await expect(disk.ready()).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'UNAVAILABLE',
      message: expect.stringContaining('object store'),
    });
  });

  it('whose directory is gone holds no object to be missing or removed: it is away', async () => {
    const root = await temporaryDirectory();
    const disk = await openDisk({ directory: root, secret });
    await disk.put('a/kept', Readable.from(['x']));
    await rename(root, `${root}-away`);
    const away = { kind: 'unavailable', code: 'UNAVAILABLE' };
    await expect(disk.open('a/kept')).rejects.toMatchObject(away);
    await expect(disk.head('a/kept')).rejects.toMatchObject(away);
    await expect(disk.copy('a/kept', 'a/copy')).rejects.toMatchObject(away);
    await expect(disk.remove('a/kept')).rejects.toMatchObject(away);
    await expect(disk.put('a/new', Readable.from(['x']))).rejects.toMatchObject(away);
    await expect(Array.fromAsync(disk.list('a/'))).rejects.toMatchObject(away);
    await rename(`${root}-away`, root);
    expect(await text(await disk.open('a/kept'))).toBe('x');
    expect(await disk.head('a/other')).toBeNull();
    await disk.remove('a/other');
    await rm(root, { recursive: true });
  });

  it('rethrows an error that is not about the key', async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'held'));
    const disk = await openDisk({ directory: root, secret });
    await expect(disk.put('held', Readable.from(['x']))).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await readdir(join(root, '.incoming'))).toEqual([]);
    await rm(root, { recursive: true });
  });
});
