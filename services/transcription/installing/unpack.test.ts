import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import tar, { type Header } from 'tar-stream';
import yazl from 'yazl';
import { unpack, type UnpackLimits } from './unpack.ts';

const tiny = new URL('../fixtures/tiny-model.tar.bz2', import.meta.url);
const limits: UnpackLimits = { entries: 20, bytes: 10_000, depth: 4 };
let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'call-analysis-unpack-'));
  folder = await mkdtemp(join(root, 'in-'));
});
afterEach(() => rm(root, { recursive: true }));

type Entry = readonly [header: Partial<Header> & { name: string }, content?: string];

function packed(...entries: Entry[]): Promise<Buffer> {
  const pack = tar.pack();
  for (const [header, content] of entries) pack.entry(header, content ?? '');
  pack.finalize();
  return buffer(pack);
}

function zipped(...entries: readonly (readonly [name: string, content: string, mode?: number])[]): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, content, mode = 0o100644] of entries) zip.addBuffer(Buffer.from(content), name, { mode });
  zip.end();
  return buffer(zip.outputStream);
}

async function unpacked(bytes: Buffer): Promise<string[]> {
  const archive = join(root, 'archive');
  await writeFile(archive, bytes);
  await unpack(archive, folder, { limits });
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();
}

const model: Entry[] = [
  [{ name: 'model/tokens.txt' }, 'a 0'],
  [{ name: 'model/model.onnx' }, 'weights'],
];
const names = ['model/model.onnx', 'model/tokens.txt'];

describe('an archive', () => {
  it('as upstream packs it, tar.bz2, is unpacked', async () => {
    const name = 'sherpa-onnx-zipformer-ru-2024-09-18';
    expect(await unpacked(await readFile(tiny))).toEqual(
      [
        'README.md',
        'decoder.int8.onnx',
        'decoder.onnx',
        'encoder.int8.onnx',
        'encoder.onnx',
        'joiner.int8.onnx',
        'joiner.onnx',
        'test_wavs/0.wav',
        'tokens.txt',
      ].map((file) => `${name}/${file}`),
    );
    expect(await readFile(join(folder, name, 'encoder.int8.onnx'), 'utf8')).toBe('encoder, quantized\n');
  });

  it('as tar.gz, tar or zip is unpacked, without hidden files', async () => {
    const hidden: Entry[] = [
      [{ name: './model/._tokens.txt' }, 'x'],
      [{ name: '__MACOSX/model' }, 'x'],
    ];
    expect(await unpacked(gzipSync(await packed(...model, ...hidden)))).toEqual(names);
    await rm(join(folder, 'model'), { recursive: true });
    expect(await unpacked(await packed([{ name: './', type: 'directory' }], ...model))).toEqual(names);
    await rm(join(folder, 'model'), { recursive: true });
    expect(await unpacked(await zipped(['model/model.onnx', 'weights'], ['model/tokens.txt', 'a 0']))).toEqual(names);
  });

  it.each<[string, Entry, RegExp]>([
    ['a path to the folder above', [{ name: '../evil' }, 'x'], /an entry with the name "\.\.\/evil"/],
    ['such a path within', [{ name: 'model/../../evil' }, 'x'], /with the name/],
    ['an absolute path', [{ name: '/tmp/evil' }, 'x'], /with the name "\/tmp\/evil"/],
    ['a path of Windows', [{ name: 'model\\evil' }, 'x'], /with the name/],
    ['a drive of Windows', [{ name: 'C:evil' }, 'x'], /with the name/],
    ['a symbolic link', [{ name: 'model/link', type: 'symlink', linkname: '/etc/passwd' }], /of the type symlink/],
    ['a hard link', [{ name: 'model/link', type: 'link', linkname: '/etc/passwd' }], /of the type link/],
    ['a device', [{ name: 'model/device', type: 'character-device' }], /of the type character-device/],
    ['a pipe', [{ name: 'model/pipe', type: 'fifo' }], /of the type fifo/],
    ['a file twice', [{ name: 'model/tokens.txt' }, 'b 0'], /two files of one name/],
    ['deep folders', [{ name: 'a/b/c/d/e' }, 'x'], /nested more than 4 deep/],
    ['too many bytes', [{ name: 'model/large' }, 'x'.repeat(10_001)], /more than 0 MB|unpacks to more/],
  ])('with %s is refused, and nothing is written outside of the folder', async (_, entry, reason) => {
    const refused = unpacked(gzipSync(await packed(...model, entry)));
    await expect(refused).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE', message: expect.stringMatching(reason) });
    expect((await readdir(root)).toSorted()).toEqual(['archive', folder.slice(root.length + 1)].toSorted());
  });

  it('with too many entries is refused', async () => {
    const many = Array.from({ length: 21 }, (_, at): Entry => [{ name: `model/${at}` }, 'x']);
    await expect(unpacked(await packed(...many))).rejects.toThrow('more than 20 entries');
  });

  it('that expands without end after its files is refused', async () => {
    const bomb = gzipSync(Buffer.concat([await packed(...model), Buffer.alloc(40e6)]));
    expect(bomb.length).toBeLessThan(100_000);
    await expect(unpacked(bomb)).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' });
  });

  it.each([
    ['a link', () => zipped(['link', '/etc/passwd', 0o120777]), /a link or a device/],
    [
      'a path to the folder above',
      async () =>
        Buffer.from((await zipped(['xx/evil', 'x'])).toString('latin1').replaceAll('xx/evil', '../evil'), 'latin1'),
      /cannot be unpacked|with the name/,
    ],
    [
      'a false size',
      async () => {
        const zip = await zipped(['model/tokens.txt', 'x'.repeat(5000)]);
        const directory = zip.indexOf('PK\x01\x02', 0, 'latin1');
        zip.writeUInt32LE(10, directory + 24);
        return zip;
      },
      /cannot be unpacked/,
    ],
  ] as const)('of the format ZIP with %s is refused', async (_, make, reason) => {
    await expect(unpacked(await make())).rejects.toThrow(reason);
    expect((await readdir(root)).toSorted()).toEqual(['archive', folder.slice(root.length + 1)].toSorted());
  });

  it.each([
    ['is cut off', async () => (await readFile(tiny)).subarray(0, 250), /cannot be unpacked/],
    ['is cut off, as gzip', async () => gzipSync(await packed(...model)).subarray(0, 60), /cannot be unpacked/],
    [
      'is damaged',
      async () => {
        const bytes = await readFile(tiny);
        bytes.fill(7, 100, 140);
        return bytes;
      },
      /cannot be unpacked/,
    ],
    ['is a page of a web site', async () => Buffer.from('<html>Sign in</html>'), /must be a tar\.bz2, tar\.gz/],
    ['is empty', async () => Buffer.alloc(0), /not an archive/],
    ['contains nothing', async () => packed([{ name: 'model/', type: 'directory' }]), /contains no files/],
  ] as const)('that %s is refused', async (_, make, reason) => {
    const refused = unpacked(await make());
    await expect(refused).rejects.toMatchObject({ code: 'ARCHIVE_UNREADABLE' });
    await expect(refused).rejects.toThrow(reason);
  });
});
