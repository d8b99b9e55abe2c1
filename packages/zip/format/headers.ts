import type { EntryRecord } from '../entry-name.ts';
import { corruptEntry } from '../faults.ts';
import {
  findZip64,
  isInZip64,
  isLocationInZip64,
  repeatsClassic,
  type Sizes,
  unsigned64,
  Zip64Values,
} from './zip64.ts';

export const LOCAL_SIGNATURE = 0x04034b50;
/** The fixed part, before name and extra fields. */
export const LOCAL_HEADER_BYTES = 30;
/** The longest form of the data descriptor. */
export const DESCRIPTOR_BYTES = 24;

const DESCRIPTOR_SIGNATURE = 0x08074b50;
/** General purpose bit 3: CRC and sizes were not known when the header was written. They follow the data. */
const SIZES_FOLLOW = 1 << 3;

/**
 * Reads the local header of an entry (APPNOTE.TXT, 4.3.7) and compares it with the directory. Fault ENTRY_CORRUPT when
 * they disagree. `sizesFollow`: a data descriptor follows the data.
 */
export async function readLocalHeader(
  bytes: { take(count: number): Promise<Buffer> },
  entry: EntryRecord,
): Promise<{ sizesFollow: boolean }> {
  const fixed = await bytes.take(LOCAL_HEADER_BYTES);
  if (fixed.length < LOCAL_HEADER_BYTES) throw corruptEntry('the archive ends in its header');
  if (fixed.readUInt32LE(0) !== LOCAL_SIGNATURE) throw corruptEntry('it has no header where the directory says');
  const flags = fixed.readUInt16LE(6);
  if ((flags & ENCRYPTED) !== 0) throw corruptEntry('its header says that it is encrypted');
  if (fixed.readUInt16LE(8) !== entry.method) {
    throw corruptEntry('header and directory name different methods of compression');
  }
  const nameBytes = fixed.readUInt16LE(26);
  const variableBytes = nameBytes + fixed.readUInt16LE(28);
  const variable = await bytes.take(variableBytes);
  if (variable.length < variableBytes) throw corruptEntry('the archive ends in its header');
  if (!variable.subarray(0, nameBytes).equals(Buffer.from(entry.raw_name, 'base64'))) {
    throw corruptEntry('header and directory name different files');
  }
  const sizesFollow = (flags & SIZES_FOLLOW) !== 0;
  const classic = { compressedBytes: fixed.readUInt32LE(18), bytes: fixed.readUInt32LE(22) };
  const sizes = sizesIn(classic, variable.subarray(nameBytes), sizesFollow);
  if (sizes === null) throw corruptEntry('the extra fields of its header are broken');
  // A value that follows the data is 0 in the header, unless the writer knew it after all.
  const agrees = (inHeader: number, inDirectory: number) => inHeader === inDirectory || (sizesFollow && inHeader === 0);
  if (!agrees(sizes.bytes, entry.bytes) || !agrees(sizes.compressedBytes, entry.compressed_bytes)) {
    throw corruptEntry('header and directory give different sizes');
  }
  if (!agrees(fixed.readUInt32LE(14), entry.crc32)) {
    throw corruptEntry('header and directory give different checksums');
  }
  return { sizesFollow };
}

/** The sizes with those that are in the ZIP64 field. Null when the field is missing or too short. */
function sizesIn(classic: Sizes, extra: Buffer, sizesFollow: boolean): Sizes | null {
  if (!isInZip64(classic)) return classic;
  const { field } = findZip64(extra);
  // Some writers set sizes that they do not know yet to the highest value.
  if (field === null && sizesFollow) return { bytes: 0, compressedBytes: 0 };
  const values = new Zip64Values(field);
  const sizes = { bytes: values.size(classic.bytes), compressedBytes: values.size(classic.compressedBytes) };
  return Number.isNaN(sizes.bytes) || Number.isNaN(sizes.compressedBytes) ? null : sizes;
}

/**
 * Whether the bytes after the data are a data descriptor (APPNOTE.TXT, 4.3.9) with the entry's CRC and sizes. The
 * signature is optional, sizes have 4 bytes or 8, and nothing says which, so every form that fits is accepted.
 */
export function descriptorAgrees(following: Buffer, { crc32, compressed_bytes, bytes }: EntryRecord): boolean {
  const agrees = (at: number): boolean => {
    if (at + 12 > following.length || following.readUInt32LE(at) !== crc32) return false;
    if (following.readUInt32LE(at + 4) === compressed_bytes && following.readUInt32LE(at + 8) === bytes) return true;
    return (
      at + 20 <= following.length &&
      unsigned64(following, at + 4) === compressed_bytes &&
      unsigned64(following, at + 12) === bytes
    );
  };
  const isSigned = following.length >= 4 && following.readUInt32LE(0) === DESCRIPTOR_SIGNATURE;
  return agrees(0) || (isSigned && agrees(4));
}

export const CENTRAL_SIGNATURE = 0x02014b50;
export const CENTRAL_BYTES = 46;

/** General purpose bits 0, 6 and 13 (APPNOTE.TXT, 4.4.4): encrypted, strongly encrypted, directory masked. */
export const ENCRYPTED = (1 << 0) | (1 << 6) | (1 << 13);

/** An entry as the directory describes it (APPNOTE.TXT, 4.3.12). */
export interface CentralHeader {
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  readonly disk: number;
  /** MS-DOS attributes in the lower half, the Unix mode in the upper half. */
  readonly attributes: number;
  /** Where the local header begins. */
  readonly offset: number;
  readonly rawName: Buffer;
  /** False when the extra fields run over their end, or the ZIP64 field does not fit the header. */
  readonly isConsistent: boolean;
}

/** The length of the header at `at` with name, extra fields and comment. Its first 46 bytes must be there. */
export function centralHeaderLength(bytes: Buffer, at: number): number {
  return CENTRAL_BYTES + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
}

/** Reads the header at `at`, all of which must be there. */
export function readCentralHeader(bytes: Buffer, at: number): CentralHeader {
  const nameEnd = at + CENTRAL_BYTES + bytes.readUInt16LE(at + 28);
  const extraBytes = bytes.readUInt16LE(at + 30);
  const classic = {
    flags: bytes.readUInt16LE(at + 8),
    method: bytes.readUInt16LE(at + 10),
    crc32: bytes.readUInt32LE(at + 16),
    compressedBytes: bytes.readUInt32LE(at + 20),
    bytes: bytes.readUInt32LE(at + 24),
    disk: bytes.readUInt16LE(at + 34),
    attributes: bytes.readUInt32LE(at + 38),
    offset: bytes.readUInt32LE(at + 42),
    rawName: bytes.subarray(at + CENTRAL_BYTES, nameEnd),
  };
  const needsZip64 = isInZip64(classic) || isLocationInZip64(classic);
  if (extraBytes < 4) return { ...classic, isConsistent: !needsZip64 };
  const { field, isIntact } = findZip64(bytes.subarray(nameEnd, nameEnd + extraBytes));
  if (!isIntact) return { ...classic, isConsistent: false };
  if (field === null) return { ...classic, isConsistent: !needsZip64 };
  if (!needsZip64) return { ...classic, isConsistent: repeatsClassic(field, classic, classic) };
  const values = new Zip64Values(field);
  const wide = {
    bytes: values.size(classic.bytes),
    compressedBytes: values.size(classic.compressedBytes),
    offset: values.size(classic.offset),
    disk: values.disk(classic.disk),
  };
  return { ...classic, ...wide, isConsistent: values.isUsedUp };
}
