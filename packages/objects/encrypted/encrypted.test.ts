import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { encryptionKeysFrom } from '@call-analysis/encryption';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { objectsContract } from '../contract/contract.ts';
import { objectsMemory } from '../contract/memory.ts';
import { openDisk } from '../disk/disk.ts';
import { openObjects } from '../open.ts';
import { dataKeysOf } from './encrypted.ts';

const secret = 'a secret of thirty-two bytes or more';
const line = (id: string, byte = 7) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`;
const keysOf = (...lines: string[]) => encryptionKeysFrom({ ENCRYPTION_KEY: lines.join('\n') })!;
const open = (directory: string, ...lines: string[]) =>
  openObjects({ store: 'disk', directory, secret, encryption: keysOf(...lines) });
const BLOCK = 65_536;

objectsContract('encrypted disk', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'objects-'));
  return { objects: await open(directory, line('first')), close: () => rm(directory, { recursive: true }) };
});

objectsMemory('encrypted disk', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'objects-'));
  return {
    config: { store: 'disk', directory, secret },
    encryptionKey: line('first'),
    close: () => rm(directory, { recursive: true }),
  };
});

describe('encrypted objects', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'objects-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const put = async (content: Buffer | string, key = 'a/b') =>
    (await open(directory, line('first'))).put(key, Readable.from([Buffer.from(content)]));
  const file = () => join(directory, 'a+', 'b');

  it('show nothing of their bytes on the disk', async () => {
    await put('the words of a conversation');
    expect((await readFile(file())).includes('conversation')).toBe(false);
    const [name] = await readdir(join(directory, 'encryption+'));
    expect((await readFile(join(directory, 'encryption+', name!))).includes(Buffer.alloc(32, 7))).toBe(false);
  });

  it('read any range of any size as plain bytes have it, at the edges of blocks too', async () => {
    const objects = await open(directory, line('first'));
    const sizes = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 3 * BLOCK + 5];
    for (const size of sizes) {
      const bytes = randomBytes(size);
      await objects.put('a/b', Readable.from([bytes]));
      expect(await objects.head('a/b')).toMatchObject({ sizeBytes: size });
      expect((await buffer(await objects.open('a/b'))).equals(bytes)).toBe(true);
      const edge = fc.constantFrom(
        0,
        1,
        BLOCK - 1,
        BLOCK,
        BLOCK + 1,
        2 * BLOCK - 1,
        2 * BLOCK,
        3 * BLOCK,
        3 * BLOCK + 4,
      );
      await fc.assert(
        fc.asyncProperty(fc.tuple(edge, edge), async ([one, other]) => {
          const [start, end] = [Math.min(one, other), Math.max(one, other)];
          const read = await buffer(await objects.open('a/b', { start, end }));
          expect(read.equals(bytes.subarray(start, end + 1))).toBe(true);
          const rest = await buffer(await objects.open('a/b', { start }));
          expect(rest.equals(bytes.subarray(start))).toBe(true);
        }),
        { numRuns: 20 },
      );
    }
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['changed in one bit', (bytes) => ((bytes[BLOCK + 500]! ^= 1), bytes)],
    ['cut at the end of a block', (bytes) => bytes.subarray(0, 48 + 2 * (BLOCK + 16))],
    ['cut within a block', (bytes) => bytes.subarray(0, bytes.length - 3)],
    ['cut after the header', (bytes) => bytes.subarray(0, 48)],
    ['longer', (bytes) => Buffer.concat([bytes, Buffer.alloc(20)])],
    [
      'with blocks in another order',
      (bytes) => {
        const at = (number: number) => 48 + number * (BLOCK + 16);
        const [one, two] = [bytes.subarray(at(0), at(1)), bytes.subarray(at(1), at(2))];
        return Buffer.concat([bytes.subarray(0, 48), two, one, bytes.subarray(at(2))]);
      },
    ],
    ['with the salt of another', (bytes) => ((bytes[20]! ^= 1), bytes)],
  ])('are refused when they are %s', async (_, change) => {
    await put(randomBytes(2 * BLOCK + 1000));
    await writeFile(file(), change(await readFile(file())));
    const objects = await open(directory, line('first'));
    await expect(objects.open('a/b').then(buffer)).rejects.toMatchObject({ code: 'OBJECT_DAMAGED' });
  });

  it('leave objects from before as they are, and encrypt their copies', async () => {
    const plain = await openDisk({ directory, secret });
    for (const content of ['x', 'old bytes that are longer than the header of an encrypted object']) {
      await plain.put('a/old', Readable.from([content]));
      const objects = await open(directory, line('first'));
      expect(await text(await objects.open('a/old'))).toBe(content);
      expect(await text(await objects.open('a/old', { start: 0, end: 2 }))).toBe(content.slice(0, 3));
      expect(await objects.head('a/old')).toMatchObject({ sizeBytes: content.length });
      await objects.copy('a/old', 'a/b');
      expect(await text(await objects.open('a/b'))).toBe(content);
      expect((await stat(file())).size).toBe(48 + content.length + 16);
    }
  });

  it('are read after the key was changed, without writing them again', async () => {
    await put('kept');
    const stored = await readFile(file());
    const both = keysOf(line('second', 8), line('first'));
    const dataKeys = dataKeysOf(await openDisk({ directory, secret }), both);
    expect(await dataKeys.status()).toMatchObject({ current: 'second', data_keys: [{ key: 'first' }] });
    expect([await dataKeys.rotate(), await dataKeys.rotate()]).toEqual([1, 0]);
    expect(await text(await (await open(directory, line('second', 8))).open('a/b'))).toBe('kept');
    expect((await readFile(file())).equals(stored)).toBe(true);
    await expect(open(directory, line('first'))).rejects.toThrow(/encrypted with the key "second".*Add its line/);
  });

  it('stop a start without a key, without the right key, and with another key of its name', async () => {
    await put('x');
    await expect(openObjects({ store: 'disk', directory, secret })).rejects.toThrow(
      /no key is set. Set ENCRYPTION_KEY_FILE/,
    );
    await expect(open(directory, line('other'))).rejects.toThrow(/encrypted with the key "first"/);
    await expect(open(directory, line('first', 9))).rejects.toThrow(/"first" of the key file is not the one/);
  });

  it('are read by processes that made data keys at the same time', async () => {
    const [one, other] = await Promise.all([open(directory, line('first')), open(directory, line('first'))]);
    await Promise.all([one!.put('a/1', Readable.from(['1'])), other!.put('a/2', Readable.from(['2']))]);
    expect(await text(await one!.open('a/2'))).toBe('2');
    expect(await text(await other!.open('a/1'))).toBe('1');
  });
});
