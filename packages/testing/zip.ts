import { crc32, deflateRawSync } from 'node:zlib';

/** The fields of a header. A field that a test does not set is computed from the data. */
export interface ZipFields {
  flags: number;
  method: number;
  crc32: number;
  compressedBytes: number;
  bytes: number;
  /** Only in the central directory. */
  offset: number;
  disk: number;
  attributes: number;
  madeBy: number;
  /** Bytes as in the header. */
  name: Buffer;
  extra: Buffer;
  comment: Buffer;
}

export interface ZipEntry {
  /** A string is written as UTF-8, with the UTF-8 flag unless it is ASCII. */
  readonly name: string | Buffer;
  readonly data?: Uint8Array;
  /** Default 0, stored. */
  readonly method?: 0 | 8;
  /** Written to the file instead of the compressed data. */
  readonly compressed?: Uint8Array;
  /** Bit 3: CRC and sizes follow the data, in one of the four forms that writers use. */
  readonly descriptor?: 'signed' | 'plain' | 'signed-zip64' | 'plain-zip64' | Buffer;
  /** Sizes and offset are in ZIP64 fields. */
  readonly zip64?: boolean;
  readonly local?: Partial<ZipFields>;
  readonly central?: Partial<ZipFields>;
  /** Bytes before the local header. */
  readonly gap?: Buffer;
}

export interface ZipEnd {
  readonly comment: Buffer;
  readonly entries: number;
  readonly directoryBytes: number;
  readonly directoryOffset: number;
  readonly disk: number;
  /** Writes the end record in both forms. */
  readonly zip64: boolean;
  /** Bytes between the last entry and the central directory. */
  readonly gap: Buffer;
}

export interface Zip {
  readonly bytes: Buffer;
  readonly directoryStart: number;
  /** The offset of the end record, including its ZIP64 form. */
  readonly directoryEnd: number;
  /** Each entry as the central directory describes it, with ZIP64 fields resolved. */
  readonly entries: readonly ZipFields[];
}

/**
 * Writes a ZIP file in which every field can be wrong, as an attacker would write it. Libraries do not support that.
 */
export function writeZip(entries: readonly ZipEntry[], end: Partial<ZipEnd> = {}): Zip {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const fields: ZipFields[] = [];
  let at = 0;
  const put = (part: Uint8Array) => {
    parts.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    at += part.length;
  };
  for (const entry of entries) {
    if (entry.gap) put(entry.gap);
    const truth = fieldsOf(entry, at);
    put(localHeader(entry, truth));
    put(entry.compressed ?? compress(entry));
    if (entry.descriptor !== undefined) put(descriptor(entry.descriptor, truth));
    directory.push(centralHeader(entry, truth));
    fields.push({ ...truth, ...entry.central });
  }
  if (end.gap) put(end.gap);
  const directoryStart = at;
  for (const header of directory) put(header);
  const directoryEnd = at;
  put(
    endRecords(directoryEnd, {
      comment: Buffer.alloc(0),
      entries: entries.length,
      directoryBytes: directoryEnd - directoryStart,
      directoryOffset: directoryStart,
      disk: 0,
      zip64: false,
      gap: Buffer.alloc(0),
      ...end,
    }),
  );
  return { bytes: Buffer.concat(parts), directoryStart, directoryEnd, entries: fields };
}

function compress({ data = new Uint8Array(), method = 0 }: ZipEntry): Uint8Array {
  return method === 8 ? deflateRawSync(data) : data;
}

function fieldsOf(entry: ZipEntry, offset: number): ZipFields {
  const { name, data = new Uint8Array(), method = 0 } = entry;
  const rawName = typeof name === 'string' ? Buffer.from(name) : name;
  const utf8 = typeof name === 'string' && rawName.length !== name.length ? 1 << 11 : 0;
  return {
    flags: utf8 | (entry.descriptor === undefined ? 0 : 1 << 3),
    method,
    crc32: crc32(data),
    compressedBytes: (entry.compressed ?? compress(entry)).length,
    bytes: data.length,
    offset,
    disk: 0,
    attributes: 0,
    madeBy: 20,
    name: rawName,
    extra: Buffer.alloc(0),
    comment: Buffer.alloc(0),
  };
}

const HIGHEST = 0xffffffff;

function localHeader(entry: ZipEntry, truth: ZipFields): Buffer {
  const later = entry.descriptor === undefined ? {} : { crc32: 0, compressedBytes: 0, bytes: 0 };
  const said = { ...truth, ...later };
  const wide = entry.zip64
    ? { bytes: HIGHEST, compressedBytes: HIGHEST, extra: zip64Field(said.bytes, said.compressedBytes) }
    : {};
  const { flags, method, crc32: crc, compressedBytes, bytes, name, extra } = { ...said, ...wide, ...entry.local };
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(entry.zip64 ? 45 : 20, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(method, 8);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(compressedBytes, 18);
  header.writeUInt32LE(bytes, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

function centralHeader(entry: ZipEntry, truth: ZipFields): Buffer {
  const wide = entry.zip64
    ? {
        bytes: HIGHEST,
        compressedBytes: HIGHEST,
        offset: HIGHEST,
        extra: zip64Field(truth.bytes, truth.compressedBytes, truth.offset),
      }
    : {};
  const said = { ...truth, ...wide, ...entry.central };
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(said.madeBy, 4);
  header.writeUInt16LE(entry.zip64 ? 45 : 20, 6);
  header.writeUInt16LE(said.flags, 8);
  header.writeUInt16LE(said.method, 10);
  header.writeUInt32LE(said.crc32, 16);
  header.writeUInt32LE(said.compressedBytes, 20);
  header.writeUInt32LE(said.bytes, 24);
  header.writeUInt16LE(said.name.length, 28);
  header.writeUInt16LE(said.extra.length, 30);
  header.writeUInt16LE(said.comment.length, 32);
  header.writeUInt16LE(said.disk, 34);
  header.writeUInt32LE(said.attributes, 38);
  header.writeUInt32LE(said.offset, 42);
  return Buffer.concat([header, said.name, said.extra, said.comment]);
}

/** The extra field 0x0001 with these values. */
export function zip64Field(...values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return field;
}

function descriptor(
  form: NonNullable<ZipEntry['descriptor']>,
  { crc32: crc, compressedBytes, bytes }: ZipFields,
): Buffer {
  if (typeof form !== 'string') return form;
  const signature = Buffer.from(form.startsWith('signed') ? 'PK\x07\x08' : '', 'latin1');
  const values = Buffer.alloc(form.endsWith('zip64') ? 20 : 12);
  values.writeUInt32LE(crc, 0);
  values.writeUInt32LE(compressedBytes, 4);
  values.writeUInt32LE(bytes, form.endsWith('zip64') ? 12 : 8);
  return Buffer.concat([signature, values]);
}

/** The end record for `position` of a file, optionally with its ZIP64 form before it. */
export function endRecords(position: number, end: ZipEnd): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(end.disk, 4);
  record.writeUInt16LE(end.disk, 6);
  record.writeUInt16LE(end.zip64 ? 0xffff : end.entries, 8);
  record.writeUInt16LE(end.zip64 ? 0xffff : end.entries, 10);
  record.writeUInt32LE(end.zip64 ? HIGHEST : end.directoryBytes, 12);
  record.writeUInt32LE(end.zip64 ? HIGHEST : end.directoryOffset, 16);
  record.writeUInt16LE(end.comment.length, 20);
  const classic = Buffer.concat([record, end.comment]);
  if (!end.zip64) return classic;
  const wide = Buffer.alloc(56 + 20);
  wide.writeUInt32LE(0x06064b50, 0);
  wide.writeBigUInt64LE(44n, 4);
  wide.writeUInt16LE(45, 12);
  wide.writeUInt16LE(45, 14);
  wide.writeBigUInt64LE(BigInt(end.entries), 24);
  wide.writeBigUInt64LE(BigInt(end.entries), 32);
  wide.writeBigUInt64LE(BigInt(end.directoryBytes), 40);
  wide.writeBigUInt64LE(BigInt(end.directoryOffset), 48);
  wide.writeUInt32LE(0x07064b50, 56);
  wide.writeBigUInt64LE(BigInt(position), 64);
  wide.writeUInt32LE(1, 72);
  return Buffer.concat([wide, classic]);
}
