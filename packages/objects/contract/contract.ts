import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Objects } from '../port.ts';

interface OpenedForTest {
  readonly objects: Objects;
  close(): Promise<void>;
}

/** The promises of the port, which every adapter must keep. */
export function objectsContract(name: string, open: () => Promise<OpenedForTest>): void {
  describe(`objects: ${name}`, () => {
    let opened: OpenedForTest;
    let objects: Objects;
    let count = 0;
    const freshKey = () => `contract/${(count += 1)}/object`;
    const put = (key: string, content: string) => objects.put(key, Readable.from([Buffer.from(content)]));
    const read = async (key: string, range?: { start: number; end?: number }) => text(await objects.open(key, range));
    const list = async (prefix: string) => {
      const found: string[] = [];
      for await (const { key } of objects.list(prefix)) found.push(key);
      return found.sort();
    };

    beforeAll(async () => {
      opened = await open();
      objects = opened.objects;
    });

    afterAll(() => opened.close());

    it('is ready', async () => {
      // A paused machine may exceed the seconds that the answer may take.
      await waitUntil(() => objects.ready().then(() => true));
    });

    it('returns the bytes that were put', async () => {
      const key = freshKey();
      const bytes = Buffer.alloc(3_000_001, 'abcdefg');
      const pieces = [bytes.subarray(0, 1), bytes.subarray(1, 2_000_000), bytes.subarray(2_000_000)];
      await expect(objects.put(key, Readable.from(pieces))).resolves.toEqual({ sizeBytes: bytes.length });
      expect((await buffer(await objects.open(key))).equals(bytes)).toBe(true);
      expect(await objects.head(key)).toMatchObject({ sizeBytes: bytes.length });
    });

    it('stores an empty object', async () => {
      const key = freshKey();
      await expect(objects.put(key, Readable.from([]))).resolves.toEqual({ sizeBytes: 0 });
      expect(await read(key)).toBe('');
      expect(await objects.head(key)).toMatchObject({ sizeBytes: 0 });
    });

    it('replaces an object', async () => {
      const key = freshKey();
      await put(key, 'the longer old bytes');
      await put(key, 'new');
      expect(await read(key)).toBe('new');
    });

    it('keeps the old bytes when the stream fails, and creates no object', async () => {
      const [held, empty] = [freshKey(), freshKey()];
      await put(held, 'old');
      const failing = () =>
        Readable.from(
          (async function* () {
            yield Buffer.alloc(100_000);
            throw new Error('the client went away');
          })(),
        );
      await expect(objects.put(held, failing())).rejects.toThrow('the client went away');
      await expect(objects.put(empty, failing())).rejects.toThrow('the client went away');
      expect(await read(held)).toBe('old');
      expect(await objects.head(empty)).toBeNull();
    });

    it('keeps the old bytes when the stream is destroyed before its end', async () => {
      const key = freshKey();
      await put(key, 'old');
      const begun = Promise.withResolvers<void>();
      const stuck = new Readable({ read: () => begun.resolve() });
      stuck.push(Buffer.alloc(1000));
      const putting = objects.put(key, stuck);
      await begun.promise;
      stuck.destroy();
      await expect(putting).rejects.toThrow();
      expect(await read(key)).toBe('old');
    });

    it('refuses more than maxBytes, keeps the old bytes and destroys the stream', async () => {
      const key = freshKey();
      await put(key, 'old');
      const endless = Readable.from(
        (async function* () {
          for (;;) yield Buffer.alloc(10_000);
        })(),
      );
      await expect(objects.put(key, endless, { maxBytes: 25_000 })).rejects.toMatchObject({
        kind: 'too-large',
        code: 'TOO_LARGE',
      });
      expect(endless.destroyed).toBe(true);
      expect(await read(key)).toBe('old');
    });

    it('accepts exactly maxBytes', async () => {
      const key = freshKey();
      await objects.put(key, Readable.from([Buffer.alloc(5)]), { maxBytes: 5 });
      expect(await objects.head(key)).toMatchObject({ sizeBytes: 5 });
    });

    it('returns old or new bytes, never a mixture, to concurrent reads and puts', async () => {
      const key = freshKey();
      const versions = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(200_000));
      await put(key, versions[0] ?? '');
      const seen = await Promise.all([
        ...Array.from({ length: 10 }, () => read(key)),
        ...versions.map((version) => put(key, version).then(() => read(key))),
      ]);
      for (const content of seen) expect(versions.includes(content)).toBe(true);
    });

    it('streams a range, with an inclusive end that is cut at the end of the object', async () => {
      const key = freshKey();
      await put(key, '0123456789');
      expect(await read(key, { start: 2, end: 4 })).toBe('234');
      expect(await read(key, { start: 7 })).toBe('789');
      expect(await read(key, { start: 0, end: 0 })).toBe('0');
      expect(await read(key, { start: 8, end: 1000 })).toBe('89');
      expect(await read(key, { start: 10 })).toBe('');
      expect(await read(key, { start: 1000, end: 2000 })).toBe('');
      await objects.put(key, Readable.from([]));
      expect(await read(key, { start: 0 })).toBe('');
    });

    it('keeps working after readers that stopped early', async () => {
      const key = freshKey();
      await put(key, 'x'.repeat(2_000_000));
      for (let reader = 0; reader < 20; reader += 1) {
        const stream = await objects.open(key);
        if (reader % 2 === 0) for await (const _ of stream) break;
        stream.destroy();
      }
      expect(await read(key, { start: 1_999_998 })).toBe('xx');
    });

    it('reports that there is no object', async () => {
      const key = freshKey();
      const missing = { kind: 'not-found', code: 'NOT_FOUND' };
      expect(await objects.head(key)).toBeNull();
      await expect(objects.open(key)).rejects.toMatchObject(missing);
      await expect(objects.copy(key, freshKey())).rejects.toMatchObject(missing);
      await expect(objects.remove(key)).resolves.toBeUndefined();
    });

    it('makes a copy that later puts to the source do not change', async () => {
      const [source, copy] = [freshKey(), freshKey()];
      await put(source, 'validated');
      await put(copy, 'in the way');
      await objects.copy(source, copy);
      await put(source, 'swapped');
      expect(await read(copy)).toBe('validated');
      await objects.remove(source);
      expect(await read(copy)).toBe('validated');
    });

    it('copies the same bytes again, and onto the same key', async () => {
      const [source, copy] = [freshKey(), freshKey()];
      await put(source, 'same');
      await objects.copy(source, copy);
      await objects.copy(source, copy);
      await objects.copy(source, source);
      expect([await read(source), await read(copy)]).toEqual(['same', 'same']);
    });

    it('removes an object', async () => {
      const key = freshKey();
      await put(key, 'gone');
      await objects.remove(key);
      expect(await objects.head(key)).toBeNull();
      expect(await list(`${key.slice(0, -'/object'.length)}/`)).toEqual([]);
    });

    it('completes a read while the object is removed or replaced', async () => {
      const key = freshKey();
      await put(key, 'x'.repeat(1_000_000));
      const stream = await objects.open(key);
      await put(key, 'y');
      await objects.remove(key);
      expect(await text(stream)).toHaveLength(1_000_000);
    });

    it('lists all keys under a prefix and no others', async () => {
      const began = Date.now();
      const folder = freshKey();
      const keys = [`${folder}/b`, `${folder}/a/b`, `${folder}/c`, `${folder}/Ж б/%41`, `${folder}/a~+/=?#`];
      await Promise.all([...keys, `${folder}x/other`].map((key) => put(key, key)));
      expect(await list(`${folder}/`)).toEqual([...keys].sort());
      expect(await list(`${folder}/a/`)).toEqual([`${folder}/a/b`]);
      expect(await list(`${folder}/nothing/`)).toEqual([]);
      for await (const { modifiedAt } of objects.list(`${folder}/`)) {
        // A store may have whole seconds.
        expect(modifiedAt.getTime()).toBeGreaterThan(began - 1_000);
        expect(modifiedAt.getTime()).toBeLessThan(Date.now() + 1_000);
      }
      await expect(list(folder)).rejects.toMatchObject({ code: 'INVALID_KEY' });
    });

    it('lists more keys than fit on one page', async () => {
      const folder = freshKey();
      const names = Array.from({ length: 1100 }, (_, index) => `${folder}/${index}`);
      const rest = names.values();
      const putSome = async () => {
        for (const key of rest) await objects.put(key, Readable.from([]));
      };
      await Promise.all(Array.from({ length: 16 }, putSome));
      expect(await list(`${folder}/`)).toEqual(names.toSorted());
    });

    it('keeps objects with different keys apart', async () => {
      const pairs = [
        ['Calls.csv', 'calls.csv'],
        ['é'.normalize('NFC'), 'é'.normalize('NFD')],
        ['%41', 'A'],
        ['a%2fb', 'a/b'],
        ['a b', 'a+b'],
        ['p', 'p '],
        ['007', '7'],
        ['q?b', 'q'],
        ['q#b', 'q%23b'],
        ['ß', 'SS'],
        ['x'.repeat(255), 'X'.repeat(255)],
        ['Ж'.repeat(127), 'ж'.repeat(127)],
      ] as const;
      const folder = freshKey();
      for (const [one, other] of pairs) {
        await put(`${folder}/${one}`, one);
        await put(`${folder}/${other}`, other);
        expect(await read(`${folder}/${one}`)).toBe(one);
        expect(await read(`${folder}/${other}`)).toBe(other);
      }
    });

    it('lists any valid key unchanged', async () => {
      const oddParts = [
        '.a',
        'a.',
        '..a',
        '...',
        'con',
        'NUL.txt',
        'a?b',
        'a#b',
        ' ',
        ' a ',
        '~',
        '+',
        '-',
        '%',
        ':*',
      ].concat([
        '%2B',
        '1e5',
        '0x1',
        'true',
        'a&amp;b<c>"d\'',
        '(a)!',
        'a=b&c=d',
        '?versionId=1',
        'й'.normalize('NFD'),
      ]);
      const odd = fc.constantFrom(...oddParts);
      const any = fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
        .filter(
          (part) => !/[/\\\p{Cc}]/u.test(part) && part !== '.' && part !== '..' && Buffer.byteLength(part) <= 255,
        );
      const parts = fc.array(fc.oneof(odd, any), { minLength: 1, maxLength: 3 });
      await fc.assert(
        fc.asyncProperty(parts, async (each) => {
          const folder = freshKey();
          const key = `${folder}/${each.join('/')}`;
          await put(key, key);
          expect(await read(key)).toBe(key);
          expect(await list(`${folder}/`)).toEqual([key]);
        }),
        { numRuns: 50 },
      );
    });

    it.each([
      ['an empty key', ''],
      ['an empty part', 'a//b'],
      ['a leading slash', '/etc/passwd'],
      ['a trailing slash', 'a/'],
      ['a way up', 'a/../../etc/passwd'],
      ['a way to itself', './a'],
      ['a backslash', 'a\\..\\b'],
      ['a NUL', 'a\0b'],
      ['a line break', 'a\nb'],
      ['a lone surrogate', 'a\ud800'],
      ['a part over 255 bytes', `a/${'ж'.repeat(128)}`],
      ['over 1,024 bytes', Array.from({ length: 5 }, () => 'x'.repeat(250)).join('/')],
    ])('refuses a key with %s in every operation', async (_, key) => {
      const refusal = { kind: 'invalid', code: 'INVALID_KEY' };
      const good = freshKey();
      await put(good, 'good');
      await expect(put(key, 'x')).rejects.toMatchObject(refusal);
      await expect(objects.open(key)).rejects.toMatchObject(refusal);
      await expect(objects.head(key)).rejects.toMatchObject(refusal);
      await expect(objects.copy(key, good)).rejects.toMatchObject(refusal);
      await expect(objects.copy(good, key)).rejects.toMatchObject(refusal);
      await expect(objects.remove(key)).rejects.toMatchObject(refusal);
      await expect(objects.presignPut(key, { expiresInSeconds: 1, maxBytes: 1 })).rejects.toMatchObject(refusal);
      await expect(objects.presignGet(key, { expiresInSeconds: 1 })).rejects.toMatchObject(refusal);
    });
  });
}
