import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { deflateRawSync } from 'node:zlib';
import { writeZip, type Zip, zip64Field, type ZipEntry, type ZipFields } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import AdmZip from 'adm-zip';
import * as fc from 'fast-check';
import type { EntryRecord } from './entry-name.ts';
import { openEntry } from './open-entry.ts';
import { storedArchive } from './source.ts';

/** An archive in a store that hands out `pieceBytes` at a time. */
class Store {
  readonly streams: Readable[] = [];
  handedOut = 0;
  readonly #bytes: Buffer;
  readonly #pieceBytes: number;

  constructor(bytes: Buffer, pieceBytes = 64 * 1024) {
    this.#bytes = bytes;
    this.#pieceBytes = pieceBytes;
  }

  open = async (_: string, range: { start: number; end?: number } = { start: 0 }): Promise<Readable> => {
    const { start, end = Infinity } = range;
    if (!(start >= 0 && end >= start && end < this.#bytes.length)) throw new Error(`asked for ${start} to ${end}`);
    const stream = Readable.from(this.#pieces(start, end + 1), { objectMode: false, highWaterMark: 1 });
    this.streams.push(stream);
    return stream;
  };

  async *#pieces(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at < end; at += this.#pieceBytes) {
      const piece = this.#bytes.subarray(at, Math.min(end, at + this.#pieceBytes));
      this.handedOut += piece.length;
      yield piece;
    }
  }
}

function entryOf(zip: Zip, index: number): EntryRecord {
  const said: ZipFields | undefined = zip.entries[index];
  if (said === undefined) throw new Error(`no entry ${index}`);
  return {
    raw_name: said.name.toString('base64'),
    offset: said.offset,
    compressed_bytes: said.compressedBytes,
    bytes: said.bytes,
    crc32: said.crc32,
    method: said.method === 8 ? 8 : 0,
    flags: said.flags,
  };
}

async function extract(zip: Zip, index: number, store = new Store(zip.bytes)): Promise<Buffer> {
  return buffer(await openEntry(storedArchive(store, 'frozen/a.zip', zip.bytes.length), entryOf(zip, index)));
}

/** What came out of the first entry before its stream failed, and how it failed. */
async function failure(zip: Zip): Promise<{ code: unknown; cameOut: number }> {
  let cameOut = 0;
  try {
    const stream = await openEntry(
      storedArchive(new Store(zip.bytes, 1_000), 'frozen/a.zip', zip.bytes.length),
      entryOf(zip, 0),
    );
    for await (const piece of stream as AsyncIterable<Buffer>) cameOut += piece.length;
  } catch (error) {
    return { code: error instanceof Error && 'code' in error ? error.code : error, cameOut };
  }
  return { code: null, cameOut };
}

const text = Buffer.from('the words of a call, the words of a call, the words of a call\n'.repeat(500));
const noise = randomBytes(300_000);

const zipEntry: fc.Arbitrary<ZipEntry> = fc.record(
  {
    name: fc.string({ minLength: 1, maxLength: 20 }),
    data: fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(text, noise, Buffer.alloc(1_000_000))),
    method: fc.constantFrom(0 as const, 8 as const),
    zip64: fc.boolean(),
    descriptor: fc.constantFrom('signed' as const, 'plain' as const, 'signed-zip64' as const, 'plain-zip64' as const),
    gap: fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes)),
  },
  { requiredKeys: ['name'] },
);

describe('an entry', () => {
  it('is extracted as it was written, in any form and any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(zipEntry, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(1_000, 77_777, 1_000_000),
        async (entries, pieceBytes) => {
          const zip = writeZip(entries);
          for (const [index, { data }] of entries.entries()) {
            const bytes = await extract(zip, index, new Store(zip.bytes, pieceBytes));
            expect(bytes.equals(data ?? Buffer.alloc(0))).toBe(true);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('may arrive byte by byte', async () => {
    const zip = writeZip([{ name: 'a.wav', data: Buffer.from('a short call'), method: 8, descriptor: 'signed' }]);
    expect((await extract(zip, 0, new Store(zip.bytes, 1))).toString()).toBe('a short call');
  });

  it('written by adm-zip is extracted', async () => {
    const archive = new AdmZip();
    archive.addFile('звонок.wav', text);
    const bytes = archive.toBuffer();
    const [said] = new AdmZip(bytes).getEntries();
    if (said === undefined) throw new Error('adm-zip lost it');
    const { offset, compressedSize, size, crc, method } = said.header;
    const entry: EntryRecord = {
      raw_name: said.rawEntryName.toString('base64'),
      offset,
      compressed_bytes: compressedSize,
      bytes: size,
      crc32: crc,
      method: method === 8 ? 8 : 0,
      flags: said.header.flags,
    };
    expect(
      (await buffer(await openEntry(storedArchive(new Store(bytes), 'a', bytes.length), entry))).equals(text),
    ).toBe(true);
  });

  it('is requested once, and again only when its header is unusually long', async () => {
    const usual = writeZip([
      { name: 'a.wav', data: noise, method: 8, zip64: true, descriptor: 'signed-zip64' },
      { name: 'b.wav', data: noise },
    ]);
    const store = new Store(usual.bytes);
    await extract(usual, 0, store);
    expect(store.streams).toHaveLength(1);
    expect(store.handedOut).toBeLessThan(noise.length + 1_000);

    const extra = Buffer.alloc(60_000);
    extra.writeUInt16LE(0x9999, 0);
    extra.writeUInt16LE(extra.length - 4, 2);
    const unusual = writeZip([
      { name: 'a.wav', data: text, method: 8, local: { extra }, descriptor: 'plain' },
      { name: 'b.wav', data: noise },
    ]);
    expect((await extract(unusual, 0)).equals(text)).toBe(true);
  });

  it('may have its sizes in the header as well as after the data', async () => {
    const { compressedBytes, crc32 } = writeZip([{ name: 'a', data: text, method: 8 }]).entries[0]!;
    const known = { crc32, compressedBytes, bytes: text.length };
    const zip = writeZip([{ name: 'a', data: text, method: 8, descriptor: 'signed', local: known }]);
    expect((await extract(zip, 0)).equals(text)).toBe(true);
  });

  it('may have the highest values instead of its sizes in the header, as some writers set them', async () => {
    const open = { compressedBytes: 0xffffffff, bytes: 0xffffffff };
    const zip = writeZip([{ name: 'a', data: text, method: 8, descriptor: 'plain', local: open }]);
    expect((await extract(zip, 0)).equals(text)).toBe(true);
  });

  it('is read no faster than it is consumed', async () => {
    const zip = writeZip([{ name: 'a.wav', data: Buffer.concat(Array.from({ length: 30 }, () => noise)) }]);
    const store = new Store(zip.bytes);
    const stream = await openEntry(storedArchive(store, 'a', zip.bytes.length), entryOf(zip, 0));
    for await (const piece of stream as AsyncIterable<Buffer>) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    expect(store.handedOut).toBeLessThan(1_000_000);
  });

  it('releases the source immediately when its stream is destroyed, even while no bytes arrive', async () => {
    const zip = writeZip([{ name: 'a.wav', data: noise, method: 8 }]);
    const silent = new Readable({ read() {} });
    silent.push(zip.bytes.subarray(0, 50_000));
    const stream = await openEntry(storedArchive({ open: async () => silent }, 'a', zip.bytes.length), entryOf(zip, 0));
    stream.resume();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const letGo = once(silent, 'close');
    stream.destroy();
    await letGo;
    expect(silent.destroyed).toBe(true);
  });

  it('fails with the error of the source, not as a corrupt entry', async () => {
    const zip = writeZip([{ name: 'a.wav', data: noise, method: 8 }]);
    const broken = Readable.from(
      (async function* pieces() {
        yield zip.bytes.subarray(0, 50_000);
        throw new Error('the disk is on fire');
      })(),
    );
    const stream = await openEntry(storedArchive({ open: async () => broken }, 'a', zip.bytes.length), entryOf(zip, 0));
    await expect(buffer(stream)).rejects.toThrow('the disk is on fire');
  });
});

describe('an entry is refused with ENTRY_CORRUPT for', () => {
  const deflated = deflateRawSync(text);
  const wrongSum = (data: Buffer) => Buffer.concat([data.subarray(0, -1), Buffer.from([data[data.length - 1]! ^ 1])]);
  const good: ZipEntry = { name: 'a.wav', data: text, method: 8 };
  it.each<[string, Zip]>([
    ['a missing header', shifted(writeZip([good]), 1)],
    ['a header with another name', writeZip([{ ...good, local: { name: Buffer.from('b.wav') } }])],
    ['a header with a longer name', writeZip([{ ...good, local: { name: Buffer.from('a.wav/..') } }])],
    ['a header with another method', writeZip([{ ...good, local: { method: 0 } }])],
    ['a header that says it is encrypted', writeZip([{ ...good, local: { flags: 1 } }])],
    ['a header with another size', writeZip([{ ...good, local: { bytes: text.length + 1 } }])],
    ['a header with another compressed size', writeZip([{ ...good, local: { compressedBytes: deflated.length - 1 } }])],
    ['a header with another checksum', writeZip([{ ...good, local: { crc32: 1 } }])],
    ['a header without sizes when none follow', writeZip([{ ...good, local: { bytes: 0, compressedBytes: 0 } }])],
    [
      'a header whose ZIP64 field has another size',
      writeZip([{ ...good, zip64: true, local: { extra: zip64Field(text.length, 1) } }]),
    ],
    ['a header that refers to a missing ZIP64 field', writeZip([{ ...good, local: { bytes: 0xffffffff } }])],
    [
      'a header whose ZIP64 field is too short',
      writeZip([{ ...good, zip64: true, local: { extra: zip64Field(text.length) } }]),
    ],
    ['a wrong checksum', writeZip([{ ...good, compressed: deflateRawSync(wrongSum(text)) }])],
    ['a wrong checksum of a stored entry', writeZip([{ ...good, method: 0, compressed: wrongSum(text) }])],
    ['data that is not deflated', writeZip([{ ...good, compressed: Buffer.alloc(100, 0xff) }])],
    ['data that ends too early', writeZip([{ ...good, compressed: deflated.subarray(0, -5) }])],
    [
      'data after the end of the deflated data',
      writeZip([{ ...good, compressed: Buffer.concat([deflated, Buffer.alloc(5)]) }]),
    ],
    [
      'much data after the end of the deflated data',
      writeZip([{ ...good, compressed: Buffer.concat([deflated, noise]) }]),
    ],
    ['data that inflates to less', writeZip([{ ...good, compressed: deflateRawSync(text.subarray(1)) }])],
    ['no data', writeZip([{ ...good, compressed: Buffer.alloc(0) }])],
    ['a stored entry with less data', writeZip([{ ...good, method: 0, compressed: text.subarray(1) }])],
    ['a missing descriptor', writeZip([{ ...good, descriptor: Buffer.alloc(0) }])],
    [
      'a descriptor with another checksum',
      writeZip([{ ...good, descriptor: descriptorOf(1, deflated.length, text.length) }]),
    ],
    [
      'a descriptor with another compressed size',
      writeZip([{ ...good, descriptor: descriptorOf(null, 1, text.length) }]),
    ],
    ['a descriptor with another size', writeZip([{ ...good, descriptor: descriptorOf(null, deflated.length, 1) }])],
    ['an entry that reaches beyond the archive', shifted(writeZip([good]), 1_000_000)],
  ])('%s', async (_, zip) => {
    const { code, cameOut } = await failure(zip);
    expect(code).toBe('ENTRY_CORRUPT');
    expect(cameOut).toBeLessThanOrEqual(zip.entries[0]!.bytes);
  });

  it('data that inflates to more than declared, as soon as it does', async () => {
    const bomb = deflateRawSync(Buffer.alloc(200_000_000));
    const zip = writeZip([{ name: 'a.wav', data: Buffer.alloc(100_000), compressed: bomb, method: 8 }]);
    const store = new Store(zip.bytes, 1_000);
    const stream = await openEntry(storedArchive(store, 'a', zip.bytes.length), entryOf(zip, 0));
    let cameOut = 0;
    stream.on('data', (piece: Buffer) => (cameOut += piece.length));
    await expect(finished(stream)).rejects.toMatchObject({ code: 'ENTRY_CORRUPT' });
    expect(cameOut).toBeLessThanOrEqual(100_000);
    expect(store.handedOut).toBeLessThan(bomb.length / 2);
  });

  it('any changed byte of the file, unless the entry is still extracted correctly', async () => {
    const zip = writeZip([{ name: 'a.wav', data: text, method: 8 }]);
    await fc.assert(
      fc.asyncProperty(fc.nat(zip.directoryStart - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const bytes = Buffer.from(zip.bytes);
        bytes.writeUInt8(bytes.readUInt8(at) ^ flip, at);
        const { code, cameOut } = await failure({ ...zip, bytes });
        expect(cameOut).toBeLessThanOrEqual(text.length);
        if (code === null) expect((await extract({ ...zip, bytes }, 0)).equals(text)).toBe(true);
        else expect(code).toBe('ENTRY_CORRUPT');
      }),
      { numRuns: 300 },
    );
  });

  function shifted(zip: Zip, by: number): Zip {
    return { ...zip, entries: zip.entries.map((said) => ({ ...said, offset: said.offset + by })) };
  }

  function descriptorOf(crc: number | null, compressedBytes: number, bytes: number): Buffer {
    const values = Buffer.from('PK\x07\x08............', 'latin1');
    values.writeUInt32LE(crc ?? writeZip([good]).entries[0]!.crc32, 4);
    values.writeUInt32LE(compressedBytes, 8);
    values.writeUInt32LE(bytes, 12);
    return values;
  }
});
