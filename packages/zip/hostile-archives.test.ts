import { deflateRawSync } from 'node:zlib';
import { endRecords, writeZip, zip64Field, type ZipEnd, type ZipEntry, type ZipFields } from '@call-analysis/testing';
import { describe, expect, it, jest } from '@jest/globals';
import { defaultArchiveLimits, readArchive } from './read-archive.ts';
import { WatchedSource, outcomeOf, namesOf } from './test/ranged-source.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const LINK = 0o120777 * 0x10000;
const data = Buffer.from('a recording');
const a: ZipEntry = { name: 'a.wav', data, method: 8 };
const b: ZipEntry = { name: 'b.wav', data };

/** Two good entries, the second with this in the directory. */
function lie(central: Partial<ZipFields>, entry: ZipEntry = b): Buffer {
  return writeZip([a, { ...entry, central }]).bytes;
}

function named(name: string | Buffer): Buffer {
  return writeZip([a, { name, data }]).bytes;
}

function ended(end: Partial<ZipEnd>): Buffer {
  return writeZip([a, b], end).bytes;
}

/** Overwrites a 16-bit, 32-bit or 64-bit field of the end record, counted from its beginning. */
function patched(zip: { bytes: Buffer; directoryEnd: number }, at: number, width: 2 | 4, value: number): Buffer {
  const bytes = Buffer.from(zip.bytes);
  bytes.writeUIntLE(value, zip.directoryEnd + at, width);
  return bytes;
}

/** Consecutive entries whose data is mostly the same bytes (D. Fifield, "A better zip bomb"). */
function overlapping(count: number): Buffer {
  const kernel = deflateRawSync(Buffer.alloc(200_000));
  const header = 30 + '0000.wav'.length;
  return writeZip(
    Array.from({ length: count }, (_, index) => ({
      name: `${String(index).padStart(4, '0')}.wav`,
      compressed: index === count - 1 ? kernel : Buffer.alloc(0),
      method: 8 as const,
      central: {
        compressedBytes: (count - 1 - index) * header + kernel.length,
        bytes: 200_000,
        offset: index * header,
      },
    })),
  ).bytes;
}

const comment = (bytes: Buffer) => ({ comment: bytes });
const emptyEnd = endRecords(0, {
  comment: Buffer.alloc(0),
  entries: 0,
  directoryBytes: 0,
  directoryOffset: 0,
  disk: 0,
  zip64: false,
  gap: Buffer.alloc(0),
});

describe('an archive is refused with INVALID_ZIP for', () => {
  const plain = writeZip([a, b]);
  const wide = writeZip([a, b], { zip64: true });
  it.each<[string, Buffer]>([
    ['no bytes', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(100_000)],
    ['another kind of file', Buffer.alloc(100_000, 'Rar!\x1a\x07\x01\x00')],
    ['a directory that is missing its end', plain.bytes.subarray(0, plain.directoryEnd)],
    ['a comment that is cut short', writeZip([a], comment(Buffer.alloc(100, 'x'))).bytes.subarray(0, -1)],
    ['a comment that is declared longer than the file', patched(plain, 20, 2, 7)],
    ['an end record in the comment of another', ended(comment(emptyEnd))],
    [
      'an end record in a comment that claims the rest of the comment as its own',
      ended(comment(writeZip([b], comment(Buffer.alloc(3, 'y'))).bytes)),
    ],
    ['the beginning of an end record in a comment', ended(comment(Buffer.from('hello PK\x05\x06', 'latin1')))],
    ['an end record after another', Buffer.concat([plain.bytes, plain.bytes.subarray(plain.directoryEnd)])],
    ['an archive in the comment of another, with corrected offsets', nestedInComment()],
    ['an end on another disk', ended({ disk: 1 })],
    ['a directory spread over disks', patched(plain, 8, 2, 1)],
    ['an entry on another disk', lie({ disk: 1 })],
    ['more entries in the directory than at the end', ended({ entries: 1 })],
    ['fewer entries in the directory than at the end', ended({ entries: 3 })],
    ['no entries at the end and some in the directory', ended({ entries: 0 })],
    ['a number of entries that the directory cannot hold', ended({ entries: 60_000 })],
    ['a directory that is shorter than declared', patched(plain, 12, 4, plain.directoryEnd - plain.directoryStart + 1)],
    ['a directory that is longer than declared', patched(plain, 12, 4, plain.directoryEnd - plain.directoryStart - 1)],
    ['a directory that is somewhere else', patched(plain, 16, 4, plain.directoryStart - 1)],
    ['a directory beyond the file', patched(plain, 16, 4, 0xfffffff0)],
    [
      'bytes among the headers of the directory',
      lie({ comment: Buffer.from('x') }).fill(0, plain.directoryStart, plain.directoryStart + 1),
    ],
    ['a ZIP64 end record with another count', patched(wide, 32, 4, 1)],
    [
      'a ZIP64 end record that disagrees with the classic one',
      patched({ ...wide, directoryEnd: wide.directoryEnd + 76 }, 10, 2, 3),
    ],
    ['a ZIP64 end record of another length', patched(wide, 4, 4, 45)],
    ['a ZIP64 locator that points nowhere', patched(wide, 56 + 8, 4, 0)],
    ['a ZIP64 locator that points beyond the file', patched(wide, 56 + 8 + 4, 4, 1)],
    ['a ZIP64 archive in several parts', patched(wide, 56 + 16, 4, 2)],
    ['a ZIP64 end record that says it is on another disk', patched(wide, 16, 4, 1)],
    ['an end record that refers to a missing ZIP64 record', patched(plain, 16, 4, 0xffffffff)],
    ['an entry that refers to a missing ZIP64 field', lie({ offset: 0xffffffff })],
    ['an entry whose ZIP64 field is too short', lie({ bytes: 0xffffffff, offset: 0xffffffff, extra: zip64Field(11) })],
    ['an entry whose ZIP64 field is too long', lie({ bytes: 0xffffffff, extra: zip64Field(11, 11) })],
    [
      'an entry with two ZIP64 fields',
      lie({ bytes: 0xffffffff, extra: Buffer.concat([zip64Field(11), zip64Field(12)]) }),
    ],
    ['an entry whose ZIP64 field contradicts its header', lie({ extra: zip64Field(12, 11) })],
    ['an entry whose extra fields exceed their length', lie({ extra: Buffer.from([1, 2, 9, 0, 0]) })],
    ['an encrypted entry', lie({ flags: 1 })],
    ['a strongly encrypted entry', lie({ flags: 1 << 6 })],
    ['an entry with a masked header', lie({ flags: 1 << 13 })],
    ['an entry in deflate64', lie({ method: 9 })],
    ['an entry in AES', lie({ method: 99, flags: 1 })],
    ['an entry in zstd', lie({ method: 93 })],
    ['a stored entry with two sizes', lie({ bytes: 12 })],
    [
      'a flag for UTF-8 on other bytes',
      writeZip([a, { name: Buffer.from([0xa7, 0xa2]), central: { flags: 1 << 11 } }]).bytes,
    ],
    [
      'a flag for UTF-8 on a surrogate',
      writeZip([a, { name: Buffer.from([0xed, 0xa0, 0x80]), central: { flags: 1 << 11 } }]).bytes,
    ],
    ['an entry that begins beyond the file', lie({ offset: 100_000 })],
    ['an entry that ends beyond the file', lie({ compressedBytes: 100_000, method: 8 })],
    ['an entry that ends beyond any file', lie({ method: 8, compressedBytes: 0xffffffff, extra: zip64Field(2 ** 53) })],
  ])('%s', async (_, bytes) => {
    expect(await outcomeOf(bytes)).toMatchObject({ code: 'INVALID_ZIP' });
  });

  function nestedInComment(): Buffer {
    const inner = writeZip([a, b]);
    const outer = writeZip([a], comment(inner.bytes));
    const shift = outer.bytes.length - inner.bytes.length;
    const bytes = Buffer.from(outer.bytes);
    bytes.writeUInt32LE(shift + inner.directoryStart, shift + inner.directoryEnd + 16);
    return bytes;
  }
});

describe('an archive is refused with UNSAFE_ARCHIVE for', () => {
  const many = Array.from({ length: 20 }, (_, index) => ({
    name: `${index}.wav`,
    compressed: Buffer.alloc(1),
    central: { method: 8, bytes: 250 * MIB },
  }));
  it.each<[string, Buffer]>([
    ['entries that share their data', overlapping(50)],
    ['two entries at one offset', writeZip([a, { name: 'b.wav', central: { offset: 0 } }]).bytes],
    ['an entry that reaches into the next', writeZip([{ ...a, central: { compressedBytes: 60 } }, b]).bytes],
    ['an entry that reaches into the directory', lie({ compressedBytes: 60, method: 8 })],
    ['an entry that begins in the directory', writeZip([a, { name: 'b.wav', central: { offset: 60 } }]).bytes],
    ['an entry that expands over 1 GiB', lie({ method: 8, bytes: GIB + 1 })],
    ['an entry that expands over 256 MiB and 200-fold', lie({ method: 8, bytes: 256 * MIB + 1 })],
    ['an archive that expands over 1 GiB and 200-fold', writeZip(many).bytes],
    ['a name with a part that leads up', named('../b.wav')],
    ['a name with an inner part that leads up', named('x/../../b.wav')],
    ['a name that is `..`', named('..')],
    ['a name that leads up by backslashes', named('..\\b.wav')],
    ['a name with a backslash', named('x\\b.wav')],
    ['an absolute path', named('/b.wav')],
    ['a network path', named('//host/b.wav')],
    ['a drive', named('C:/b.wav')],
    ['a drive in lower case, without a slash', named('c:b.wav')],
    ['a name with a NUL', named('b.wav\0.txt')],
    ['a name with a line break', named('b\n.wav')],
    ['a name with DEL', named('b\x7f.wav')],
    ['a name with a control character from Latin 1', named('b\u0085.wav')],
    ['no name', named('')],
    ['a name of 256 bytes', named('x'.repeat(252) + '.wav')],
    ['a name of 256 bytes in 128 letters', named('я'.repeat(128))],
    ['a link', lie({ attributes: LINK })],
    ['a link that says it comes from DOS', lie({ attributes: LINK, madeBy: 0 })],
    ['a reparse point of Windows', lie({ attributes: 0x400 })],
    ['a pipe', lie({ attributes: 0o010644 * 0x10000 })],
    ['a device', lie({ attributes: 0o060644 * 0x10000 })],
    ['a socket', lie({ attributes: 0o140644 * 0x10000 })],
    ['a volume label', lie({ attributes: 0x08 })],
    ['two entries with one name', writeZip([a, a]).bytes],
    ['names that differ only in case', writeZip([a, { name: 'A.WAV' }]).bytes],
    ['names that differ only in case, beyond ASCII', writeZip([{ name: 'Звонок.wav' }, { name: 'звонок.wav' }]).bytes],
    [
      'names that differ only in case, in an old code page',
      writeZip([{ name: Buffer.from([0x87]) }, { name: Buffer.from([0xa7]) }]).bytes,
    ],
    ['names that are equal in NFC', writeZip([{ name: 'й.wav' }, { name: 'й.wav'.normalize('NFD') }]).bytes],
    ['names that are equal in NFC after lower case', writeZip([{ name: 'J\u030c.wav' }, { name: '\u01f0.wav' }]).bytes],
    [
      'one name in UTF-8 and in an old code page',
      writeZip([{ name: 'з.wav' }, { name: Buffer.from([0xa7, 0x2e, 0x77, 0x61, 0x76]) }]).bytes,
    ],
    ['hidden files with one name', writeZip([{ name: '.DS_Store' }, { name: '.DS_Store' }]).bytes],
    ['a hidden file whose name leads up', named('__MACOSX/../b.wav')],
    ['a hidden file that is a link', writeZip([a, { name: 'Thumbs.db', central: { attributes: LINK } }]).bytes],
    ['bytes before the first entry', writeZip([{ ...a, gap: Buffer.from('#') }]).bytes],
    ['a program before the archive, with unchanged offsets', Buffer.concat([Buffer.from('MZ'), ended({})])],
    ['a program before a ZIP64 archive', Buffer.concat([Buffer.from('MZ'), ended({ zip64: true })])],
    ['a byte after its end', Buffer.concat([ended({}), Buffer.from('x')])],
    ['a byte after zeros after its end', Buffer.concat([ended({}), Buffer.alloc(1_000), Buffer.from('x')])],
    ['65,536 zeros after its end', Buffer.concat([ended({}), Buffer.alloc(65_536)])],
    ['a million zeros after its end', Buffer.concat([ended({}), Buffer.alloc(1_000_000)])],
    ['another file after its end', Buffer.concat([ended({}), Buffer.alloc(3_000_000, 'other')])],
  ])('%s', async (_, bytes) => {
    expect(await outcomeOf(bytes)).toMatchObject({ code: 'UNSAFE_ARCHIVE' });
  });

  it('more than 100,000 entries, without reading the directory', async () => {
    const count = 100_001;
    const directory = Buffer.alloc(count * 46, Buffer.from('PK\x01\x02'.padEnd(46, '\0'), 'latin1'));
    const end = { comment: Buffer.alloc(0), gap: Buffer.alloc(0), disk: 0, directoryOffset: 0, zip64: true };
    const records = endRecords(directory.length, { ...end, entries: count, directoryBytes: directory.length });
    const source = new WatchedSource(Buffer.concat([directory, records]));
    await expect(readArchive(source)).rejects.toMatchObject({
      code: 'UNSAFE_ARCHIVE',
      message: expect.stringContaining('100001'),
    });
    expect(source.readBytes).toBeLessThan(70_000);
  });

  it('entries that together expand to over 200 GiB', async () => {
    const entries = Array.from({ length: 201 }, (_, index) => ({
      name: `${index}.wav`,
      compressed: Buffer.alloc(10),
      central: { method: 8, bytes: GIB },
    }));
    const trusting = { ...defaultArchiveLimits, fold: GIB };
    expect(await outcomeOf(writeZip(entries).bytes, trusting)).toMatchObject({
      code: 'UNSAFE_ARCHIVE',
      message: expect.stringContaining('214748364800'),
    });
    expect(namesOf(await outcomeOf(writeZip(entries.slice(1)).bytes, trusting))).toHaveLength(200);
  });
});

describe('65,535 zeros after the end', () => {
  it('are accepted, with a comment and without one', async () => {
    const zeros = Buffer.alloc(65_535);
    expect(namesOf(await outcomeOf(Buffer.concat([ended({}), zeros])))).toEqual(['a.wav', 'b.wav']);
    expect(namesOf(await outcomeOf(Buffer.concat([ended(comment(Buffer.alloc(65_535, 'x'))), zeros])))).toEqual([
      'a.wav',
      'b.wav',
    ]);
  });
});

describe('an archive that was uploaded as part of a form', () => {
  it('is refused with the advice to put the file itself', async () => {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(ended({}))]), 'a.zip');
    const fault = await outcomeOf(Buffer.from(await new Response(form).arrayBuffer()));
    expect(fault).toMatchObject({
      code: 'UNSAFE_ARCHIVE',
      message: expect.stringMatching(/those of a form\. Put the bytes of the file itself/),
    });
  });
});

describe('an archive is refused with NESTED_FOLDER for', () => {
  it.each<[string, Buffer]>([
    ['an entry in a folder', named('calls/b.wav')],
    ['a folder', named('calls/')],
    ['an entry in the folder `.`', named('./b.wav')],
    ['a folder without a slash', lie({ attributes: 0o040755 * 0x10000 })],
    ['a folder of DOS without a slash', lie({ attributes: 0x10 })],
    ['a file that is named almost like a hidden folder', named('__macosx/b.wav')],
    ['a file in a folder that is named like a hidden file', named('.DS_Store/b.wav')],
  ])('%s', async (_, bytes) => {
    expect(await outcomeOf(bytes)).toMatchObject({ code: 'NESTED_FOLDER' });
  });
});

describe('a refusal', () => {
  it('names every refused entry with the reason', async () => {
    const { bytes } = writeZip([a, { name: 'x/b.wav' }, { name: 'x/' }, { name: 'y/c.wav' }]);
    expect(await outcomeOf(bytes)).toEqual({
      code: 'NESTED_FOLDER',
      message:
        'All recordings must be in the root of the archive, without folders: "x/b.wav" is not in the root (and 2 more). Zip the files, not their folder.',
      entries: [
        { name: 'x/b.wav', reason: 'is not in the root' },
        { name: 'x/', reason: 'is a folder' },
        { name: 'y/c.wav', reason: 'is not in the root' },
      ],
    });
  });

  it.each<[string, string, Buffer]>([
    ['UNSAFE_ARCHIVE', 'other bytes follow its end', Buffer.concat([ended({}), Buffer.alloc(70_000, 'x')])],
    ['UNSAFE_ARCHIVE', '"c:b.wav" names a drive', named('c:b.wav')],
    ['UNSAFE_ARCHIVE', 'is a link', lie({ attributes: 0o120777 * 0x10000 })],
    ['UNSAFE_ARCHIVE', 'has a name of 256 bytes', named('x'.repeat(256))],
    ['INVALID_ZIP', 'it has no end record', Buffer.alloc(100)],
    ['INVALID_ZIP', 'is encrypted', writeZip([{ name: 'd.wav', central: { flags: 1 } }]).bytes],
  ])('with %s (%s) says what to do next', async (code, why, bytes) => {
    const message = expect.stringContaining(why);
    const refused = await outcomeOf(bytes);
    expect(refused).toMatchObject({ code, message });
    expect(refused).toMatchObject({
      message: expect.stringMatching(
        /[^.]\. Create the ZIP again from the recordings only, with an ordinary program\.$/,
      ),
    });
  });

  it('for bytes before the first entry names that entry', async () => {
    const { bytes } = writeZip([{ ...a, gap: Buffer.from('##') }, b]);
    expect(await outcomeOf(bytes)).toEqual({
      code: 'UNSAFE_ARCHIVE',
      message:
        'The archive is not safe to open: "a.wav" is the first entry, and 2 bytes precede it. ' +
        'Create the ZIP again from the recordings only, with an ordinary program.',
      entries: [{ name: 'a.wav', reason: 'is the first entry, and 2 bytes precede it' }],
    });
  });

  it('has the code INVALID_ZIP before UNSAFE_ARCHIVE, and that before NESTED_FOLDER', async () => {
    const nested = { name: 'x/b.wav' };
    const unsafe = { name: '../c.wav' };
    const encrypted = { name: 'd.wav', central: { flags: 1 } };
    expect(await outcomeOf(writeZip([nested, unsafe]).bytes)).toMatchObject({
      code: 'UNSAFE_ARCHIVE',
      entries: [{ name: '../c.wav' }],
    });
    expect(await outcomeOf(writeZip([nested, unsafe, encrypted]).bytes)).toMatchObject({
      code: 'INVALID_ZIP',
      entries: [{ name: 'd.wav' }],
    });
  });

  it('lists 100 entries, counts the rest, and cuts very long names', async () => {
    const { bytes } = writeZip(Array.from({ length: 150 }, (_, index) => ({ name: `${index}/${'x'.repeat(5_000)}` })));
    const refused = await outcomeOf(bytes);
    if (!('code' in refused)) throw new Error('it was taken');
    expect(refused.entries).toHaveLength(100);
    expect(refused.message).toContain('(and 149 more)');
    expect(JSON.stringify(refused).length).toBeLessThan(50_000);
  });

  it('names for each overlapping entry the one that it overlaps', async () => {
    const refused = await outcomeOf(overlapping(3));
    expect(refused).toMatchObject({
      entries: [{ name: '0001.wav', reason: 'overlaps with "0000.wav"' }, { name: '0002.wav' }],
    });
  });
});

describe('an archive in an archive', () => {
  it('is one entry, and is not opened', async () => {
    const inner = writeZip([a, b]).bytes;
    expect(namesOf(await outcomeOf(writeZip([{ name: 'inner.zip', data: inner }]).bytes))).toEqual(['inner.zip']);
  });
});

describe('an archive of many refused entries', () => {
  const faulty: [string, (index: number) => ZipEntry][] = [
    ['names of 3,000 bytes', (index) => ({ name: `${'x'.repeat(3000)}${index}`, data })],
    ['names of 400 letters that are not ASCII', (index) => ({ name: `${'ж'.repeat(400)}${index}`, data })],
    ['names of letters with marks', (index) => ({ name: `${'e\u0323\u0301'.repeat(60)}${index}`, data })],
  ];
  it.each(faulty)('is refused without decoding or comparing %s as a whole', async (_, entry) => {
    const entries = 2_000;
    const { bytes } = writeZip(Array.from({ length: entries }, (_each, index) => entry(index)));
    const normalize = jest.spyOn(String.prototype, 'normalize');
    const refusal = await outcomeOf(bytes);
    const calls = normalize.mock.calls.length;
    normalize.mockRestore();
    expect(refusal).toMatchObject({ code: 'UNSAFE_ARCHIVE' });
    if (!('code' in refusal)) throw new Error('not refused');
    expect(refusal.message).toContain(`(and ${entries - 1} more)`);
    expect(Array.from(refusal.entries[0]!.name).length).toBeLessThanOrEqual(256);
    expect(calls).toBeLessThan(100);
  });
});
