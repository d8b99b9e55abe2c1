import type { Tail } from '../source.ts';

/**
 * ZIP64: the values of an archive that do not fit into its classic 16-bit and 32-bit fields. The classic field then has
 * its highest value, and the value itself is in an extra field of the entry (PKWARE APPNOTE.TXT, 4.5.3) or in a second
 * end record (4.3.14, 4.3.15).
 */
const FIELD_ID = 0x0001;
const SIZE_IN_ZIP64 = 0xffffffff;
const DISK_IN_ZIP64 = 0xffff;

const LOCATOR_SIGNATURE = 0x07064b50;
const LOCATOR_BYTES = 20;
const END_SIGNATURE = 0x06064b50;
const END_BYTES = 56;
/** The record's own size does not count its first fields. */
const END_UNCOUNTED_BYTES = 12;

/** Values above 2^53 are not exact. They exceed any file by far, so this does not matter. */
export function unsigned64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at);
}

/** The values of an entry's header that may be in its ZIP64 field. */
export interface Sizes {
  readonly bytes: number;
  readonly compressedBytes: number;
}

export function isInZip64({ bytes, compressedBytes }: Sizes): boolean {
  return bytes === SIZE_IN_ZIP64 || compressedBytes === SIZE_IN_ZIP64;
}

interface Location {
  readonly offset: number;
  readonly disk: number;
}

export function isLocationInZip64({ offset, disk }: Location): boolean {
  return offset === SIZE_IN_ZIP64 || disk === DISK_IN_ZIP64;
}

/** The ZIP64 field among extra fields. Not intact: a field runs over the end, or there are two ZIP64 fields. */
export function findZip64(extra: Buffer): { field: Buffer | null; isIntact: boolean } {
  let field: Buffer | null = null;
  // Some writers pad with up to three bytes at the end.
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) return { field, isIntact: false };
    if (extra.readUInt16LE(at) === FIELD_ID) {
      if (field !== null) return { field, isIntact: false };
      field = extra.subarray(at + 4, end);
    }
    at = end;
  }
  return { field, isIntact: true };
}

/** Replaces the values that did not fit. The field has only those, in this order. NaN: it is too short. */
export class Zip64Values {
  readonly #field: Buffer;
  #at = 0;

  constructor(field: Buffer | null) {
    this.#field = field ?? Buffer.alloc(0);
  }

  size(classic: number): number {
    if (classic !== SIZE_IN_ZIP64) return classic;
    this.#at += 8;
    return this.#at > this.#field.length ? Number.NaN : unsigned64(this.#field, this.#at - 8);
  }

  disk(classic: number): number {
    if (classic !== DISK_IN_ZIP64) return classic;
    this.#at += 4;
    return this.#at > this.#field.length ? Number.NaN : this.#field.readUInt32LE(this.#at - 4);
  }

  /** Whether the field had exactly the values that were read. */
  get isUsedUp(): boolean {
    return this.#at === this.#field.length;
  }
}

/** Whether an unneeded field repeats the classic values, as some writers do. */
export function repeatsClassic(field: Buffer, { bytes, compressedBytes }: Sizes, { offset }: Location): boolean {
  const hasDisk = field.length === 28;
  if (!hasDisk && (field.length % 8 !== 0 || field.length > 24)) return false;
  if (hasDisk && field.readUInt32LE(24) !== 0) return false;
  return [bytes, compressedBytes, offset].every(
    (value, index) => index * 8 + 8 > field.length || unsigned64(field, index * 8) === value,
  );
}

/** The counts and offsets of an end record. */
interface EndValues {
  readonly disk: number;
  readonly directoryDisk: number;
  readonly entriesHere: number;
  readonly entries: number;
  readonly sizeBytes: number;
  readonly offset: number;
}

/** Whether a classic end record, which may refer to ZIP64 in any field, agrees with the ZIP64 end record. */
export function agreesWithClassic(zip64: EndValues, classic: EndValues): boolean {
  const agrees = (name: keyof EndValues, highest: number) => classic[name] === highest || classic[name] === zip64[name];
  return (
    agrees('disk', 0xffff) &&
    agrees('directoryDisk', 0xffff) &&
    agrees('entriesHere', 0xffff) &&
    agrees('entries', 0xffff) &&
    agrees('sizeBytes', SIZE_IN_ZIP64) &&
    agrees('offset', SIZE_IN_ZIP64)
  );
}

/**
 * The ZIP64 end record that a locator before the classic end record points to. Null when there is no locator.
 * `misplacedBy`: the record is not where the locator says; it would be that many bytes further on.
 */
export async function findZip64End(tail: Tail, classicStart: number) {
  if (classicStart < LOCATOR_BYTES) return null;
  const locatorStart = classicStart - LOCATOR_BYTES;
  const locator = await tail.read(locatorStart, classicStart);
  if (locator.readUInt32LE(0) !== LOCATOR_SIGNATURE) return null;
  const start = unsigned64(locator, 8);
  const record = await endRecordAt(tail, start, locatorStart);
  if (record === null) return { misplacedBy: locatorStart - END_BYTES - start };
  return {
    start,
    // How many disks the archive is on. Some writers leave the total at 0.
    disks: Math.max(1, locator.readUInt32LE(16)) + locator.readUInt32LE(4),
    values: {
      disk: record.readUInt32LE(16),
      directoryDisk: record.readUInt32LE(20),
      entriesHere: unsigned64(record, 24),
      entries: unsigned64(record, 32),
      sizeBytes: unsigned64(record, 40),
      offset: unsigned64(record, 48),
    },
  };
}

/** The ZIP64 end record at `start`, or null unless there is one that reaches exactly to its locator. */
async function endRecordAt(tail: Tail, start: number, locatorStart: number): Promise<Buffer | null> {
  if (start + END_BYTES > locatorStart) return null;
  const record = await tail.read(start, start + END_BYTES);
  if (record.readUInt32LE(0) !== END_SIGNATURE) return null;
  return start + END_UNCOUNTED_BYTES + unsigned64(record, 4) === locatorStart ? record : null;
}
