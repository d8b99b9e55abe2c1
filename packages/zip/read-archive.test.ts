import { Readable } from 'node:stream';
import { writeZip, type ZipEntry } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import AdmZip from 'adm-zip';
import * as fc from 'fast-check';
import * as yauzl from 'yauzl';
import { readArchive } from './read-archive.ts';
import { WatchedSource, outcomeOf, namesOf } from './test/ranged-source.ts';

const wav = Buffer.from('RIFF....WAVEfmt a recording of some length, of some length, of some length');

const fileName = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9 _()+-]{1,30}\.wav$/),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .map((name) => `${name.replaceAll(/[\p{Cc}\\/:]/gu, '_')}.ogg`),
);
const zipEntry: fc.Arbitrary<ZipEntry> = fc.record(
  {
    name: fileName,
    data: fc.uint8Array({ maxLength: 300 }),
    method: fc.constantFrom(0 as const, 8 as const),
    zip64: fc.boolean(),
    descriptor: fc.constantFrom('signed' as const, 'plain' as const, 'signed-zip64' as const, 'plain-zip64' as const),
    gap: fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes)),
    central: fc.record(
      {
        comment: fc.constant(Buffer.from('a comment')),
        attributes: fc.constantFrom(0o100644 * 0x10000, 0x20),
        madeBy: fc.nat(0xffff),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['name'] },
);
const zipEntries = fc
  .uniqueArray(zipEntry, {
    maxLength: 8,
    selector: ({ name }) => String(name).normalize('NFC').toLowerCase().normalize('NFC'),
  })
  .map((entries) => entries.map((entry, index) => (index === 0 ? { ...entry, gap: Buffer.alloc(0) } : entry)));
const zipEnd = fc.record(
  {
    zip64: fc.boolean(),
    comment: fc.string({ maxLength: 40 }).map((text) => Buffer.from(text)),
    gap: fc.constant(Buffer.alloc(3)),
  },
  { requiredKeys: [] },
);

describe('a valid archive', () => {
  it('is read correctly with any names, methods, gaps, ZIP64 fields and comments', async () => {
    await fc.assert(
      fc.asyncProperty(zipEntries, zipEnd, fc.nat(50), async (entries, end, zeros) => {
        const zip = writeZip(entries, entries.length === 0 ? { ...end, gap: Buffer.alloc(0) } : end);
        const { entries: read } = await readArchive(new WatchedSource(Buffer.concat([zip.bytes, Buffer.alloc(zeros)])));
        expect(read).toEqual(
          zip.entries.map((said) => ({
            names: [said.name.toString().normalize('NFC')],
            record: {
              raw_name: said.name.toString('base64'),
              offset: said.offset,
              compressed_bytes: said.compressedBytes,
              bytes: said.bytes,
              crc32: said.crc32,
              method: said.method,
              flags: said.flags,
            },
          })),
        );
      }),
    );
  });

  it('is read as yauzl reads it', async () => {
    await fc.assert(
      fc.asyncProperty(zipEntries, zipEnd, async (entries, end) => {
        const { bytes } = writeZip(entries, entries.length === 0 ? { ...end, gap: Buffer.alloc(0) } : end);
        const { entries: read } = await readArchive(new WatchedSource(bytes));
        const other = await listWithYauzl(bytes);
        expect(read.map(({ record }) => record)).toEqual(
          other.map((entry) => ({
            raw_name: entry.fileNameRaw.toString('base64'),
            offset: entry.relativeOffsetOfLocalHeader,
            compressed_bytes: entry.compressedSize,
            bytes: entry.uncompressedSize,
            crc32: entry.crc32,
            method: entry.compressionMethod,
            flags: entry.generalPurposeBitFlag,
          })),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('written by adm-zip is read with the names that it wrote', async () => {
    const archive = new AdmZip();
    archive.addFile('call 1.wav', wav);
    archive.addFile('звонок.mp3', wav, 'a comment');
    archive.addFile('empty.ogg', Buffer.alloc(0));
    expect(namesOf(await outcomeOf(archive.toBuffer())).sort()).toEqual(['call 1.wav', 'empty.ogg', 'звонок.mp3']);
  });

  it('written by Info-ZIP, Python or macOS is read', async () => {
    const times = Buffer.from('5554050003000000006b757800', 'hex').subarray(0, 9);
    const infoZip = { extra: times, madeBy: 0x031e, attributes: 0o100644 * 0x10000 };
    const { bytes } = writeZip([
      // Info-ZIP on Linux leaves the UTF-8 flag out.
      {
        name: 'звонок.wav',
        data: wav,
        method: 8,
        local: { extra: times, flags: 0 },
        central: { ...infoZip, flags: 0 },
      },
      { name: 'python.wav', data: wav, method: 8, central: { madeBy: 0x0314, attributes: 0o600 * 0x10000 } },
      // macOS decomposes names and writes descriptors.
      {
        name: 'йод.wav'.normalize('NFD'),
        data: wav,
        method: 8,
        descriptor: 'signed',
        central: { madeBy: 0x0315, attributes: 0o100644 * 0x10000 },
      },
      { name: '__MACOSX/', central: { madeBy: 0x0315, attributes: 0o040755 * 0x10000 } },
      { name: '__MACOSX/._йод.wav'.normalize('NFD'), data: wav, method: 8, descriptor: 'signed' },
    ]);
    expect(namesOf(await outcomeOf(bytes))).toEqual(['звонок.wav', 'python.wav', 'йод.wav']);
  });

  it('may be empty', async () => {
    expect(await outcomeOf(writeZip([]).bytes)).toEqual({ entries: [] });
    expect(await outcomeOf(writeZip([], { zip64: true }).bytes)).toEqual({ entries: [] });
  });

  it('may have hidden files of macOS and Windows anywhere', async () => {
    const litter = ['.DS_Store', 'Thumbs.db', 'desktop.ini', 'folder/.DS_Store', '__MACOSX/a/b', '__MACOSX/'];
    const { bytes } = writeZip([...litter.map((name) => ({ name })), { name: 'a.wav', data: wav }]);
    expect(namesOf(await outcomeOf(bytes))).toEqual(['a.wav']);
  });

  it('may have names that only look dangerous', async () => {
    const names = ['call..v2.wav', '..a.wav', 'a..', '...', '12:30.wav', '.hidden.wav', ' a.wav', 'ё'.repeat(127)];
    expect(namesOf(await outcomeOf(writeZip(names.map((name) => ({ name }))).bytes))).toEqual(names);
  });

  it('may have silence that deflates a thousandfold, and entries up to the limits', async () => {
    const mib = 1024 ** 2;
    const central = (bytes: number, compressedBytes: number) => ({ method: 8, bytes, compressedBytes });
    const padded = (name: string, length: number, bytes: number) => ({
      name,
      compressed: Buffer.alloc(length),
      central: central(bytes, length),
    });
    const { bytes } = writeZip([
      padded('a', 100, 256 * mib),
      padded('b', 1342178, 256 * mib + 1),
      padded('c', 200_000, 100),
    ]);
    expect(namesOf(await outcomeOf(bytes))).toEqual(['a', 'b', 'c']);
  });

  it('has names in old code pages read in both ways, and valid UTF-8 as UTF-8', async () => {
    const cp866 = Buffer.from([0xa7, 0xa2, 0xae, 0xad, 0xae, 0xaa, 0x2e, 0x77, 0x61, 0x76]);
    const outcome = await readArchive(
      new WatchedSource(writeZip([{ name: cp866 }, { name: 'ё.wav', central: { flags: 0 } }]).bytes),
    );
    expect(outcome.entries.map(({ names }) => names)).toEqual([['звонок.wav', 'ºó«¡«¬.wav'], ['ё.wav']]);
  });

  it('may have names in an old code page that would be duplicates in another code page', async () => {
    const { bytes } = writeZip([{ name: Buffer.from([0x80]) }, { name: Buffer.from([0x87]) }]);
    expect(namesOf(await outcomeOf(bytes))).toEqual(['А', 'З']);
  });

  it('has its directory read once, however long it is', async () => {
    for (const count of [3, 1_000, 40_000]) {
      const zip = writeZip(Array.from({ length: count }, (_, index) => ({ name: `call-${index}.wav`, data: wav })));
      const source = new WatchedSource(zip.bytes);
      expect((await readArchive(source)).entries).toHaveLength(count);
      const directoryOn = zip.bytes.length - zip.directoryStart;
      expect(source.readBytes).toBeLessThanOrEqual(Math.max(directoryOn, 65_579));
      if (directoryOn > 65_579) expect(source.lowest).toBe(zip.directoryStart);
    }
  });
});

describe('a damaged or altered archive', () => {
  const good = fc.tuple(zipEntries, zipEnd).map(([entries, end]) => writeZip(entries, entries.length === 0 ? {} : end));

  it('is refused when any part of its end is missing', async () => {
    await fc.assert(
      fc.asyncProperty(good, fc.nat(), async ({ bytes }, cut) => {
        expect(await outcomeOf(bytes.subarray(0, cut % bytes.length))).toMatchObject({ code: 'INVALID_ZIP' });
      }),
    );
  });

  it('is refused, or has entries that do not overlap, when any bytes of its directory are changed', async () => {
    const change = fc.record({
      at: fc.nat(),
      to: fc.constantFrom(0, 1, 0x7f, 0x80, 0xff),
      times: fc.constantFrom(1, 2, 4, 8),
    });
    await fc.assert(
      fc.asyncProperty(good, fc.array(change, { minLength: 1, maxLength: 3 }), async (zip, changes) => {
        const bytes = Buffer.from(zip.bytes);
        for (const { at, to, times } of changes) {
          const from = zip.directoryStart + (at % (bytes.length - zip.directoryStart));
          bytes.fill(to, from, Math.min(bytes.length, from + times));
        }
        const outcome = await outcomeOf(bytes);
        if ('code' in outcome) return;
        const sorted = outcome.entries.map(({ record }) => record).sort((left, right) => left.offset - right.offset);
        for (const [index, { offset, compressed_bytes }] of sorted.entries()) {
          expect(offset + 30 + compressed_bytes).toBeLessThanOrEqual(sorted[index + 1]?.offset ?? zip.directoryEnd);
        }
      }),
      { numRuns: 600 },
    );
  });

  it('is refused when anything precedes it, and when anything but zeros follows it', async () => {
    const filled = good.filter(({ entries }) => entries.length > 0);
    await fc.assert(
      fc.asyncProperty(filled, fc.uint8Array({ minLength: 1, maxLength: 50 }), async ({ bytes }, other) => {
        expect(await outcomeOf(Buffer.concat([other, bytes]))).toMatchObject({ code: 'UNSAFE_ARCHIVE' });
        expect(await outcomeOf(Buffer.concat([bytes, other, Buffer.from([1])]))).toMatchObject({
          code: 'UNSAFE_ARCHIVE',
        });
      }),
    );
  });

  it('is not refused when the source returns too few bytes', async () => {
    const { bytes } = writeZip([{ name: 'a.wav', data: wav }]);
    const source = { sizeBytes: bytes.length, open: async () => Readable.from([]) };
    await expect(readArchive(source)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('is refused when it consists of random bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), async (bytes) => {
        expect(await outcomeOf(bytes)).toMatchObject({ code: 'INVALID_ZIP' });
      }),
    );
  });
});

function listWithYauzl(bytes: Buffer): Promise<yauzl.Entry[]> {
  const { promise, resolve, reject } = Promise.withResolvers<yauzl.Entry[]>();
  yauzl.fromBuffer(bytes, { lazyEntries: true, decodeStrings: false, validateEntrySizes: true }, (error, zip) => {
    if (error) return reject(error);
    const entries: yauzl.Entry[] = [];
    zip.on('entry', (entry: yauzl.Entry) => {
      entries.push(entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', reject);
    zip.readEntry();
  });
  return promise;
}
