import type { AudioExtractionRequested, BodyOf } from '@call-analysis/events';

/** What the directory of an archive says of an entry. */
export type ArchivedEntry = BodyOf<typeof AudioExtractionRequested>['entry'];

export const LOCAL_HEADER_BYTES = 30;
/** The longest of the forms in which CRC and sizes can stand behind the data. */
export const DESCRIPTOR_BYTES = 24;

const LOCAL_SIGNATURE = 0x04034b50;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
/** General purpose bits 0, 6 and 13: encrypted, strongly encrypted, directory masked. */
const ENCRYPTED = (1 << 0) | (1 << 6) | (1 << 13);
/** General purpose bit 3: the header was written before CRC and sizes were known; they stand behind the data. */
const SIZES_FOLLOW = 1 << 3;
const ZIP64_FIELD = 0x0001;
const SEE_ZIP64 = 0xffffffff;

export interface LocalHeader {
  /** Behind the fixed part: name and extra fields. */
  readonly variableBytes: number;
  readonly sizesFollow: boolean;
  /** Why it disagrees with the directory, or null. */
  disagrees(variable: Buffer): string | null;
}

/** Reads the fixed part of a local header; a string says why it is none that fits the directory. */
export function readLocalHeader(fixed: Buffer, entry: ArchivedEntry): LocalHeader | string {
  if (fixed.length < LOCAL_HEADER_BYTES) return 'the archive ends in its header';
  if (fixed.readUInt32LE(0) !== LOCAL_SIGNATURE) return 'no header stands where the directory says';
  const flags = fixed.readUInt16LE(6);
  if ((flags & ENCRYPTED) !== 0) return 'its header says that it is encrypted';
  if (fixed.readUInt16LE(8) !== entry.method) return 'header and directory name two methods of compression';
  const nameBytes = fixed.readUInt16LE(26);
  const extraBytes = fixed.readUInt16LE(28);
  const sizesFollow = (flags & SIZES_FOLLOW) !== 0;
  const crc32 = fixed.readUInt32LE(14);
  const compressedBytes = fixed.readUInt32LE(18);
  const bytes = fixed.readUInt32LE(22);
  return {
    variableBytes: nameBytes + extraBytes,
    sizesFollow,
    disagrees(variable) {
      if (variable.length < nameBytes + extraBytes) return 'the archive ends in its header';
      if (!variable.subarray(0, nameBytes).equals(Buffer.from(entry.raw_name, 'base64')))
        return 'header and directory name two files';
      const sizes = widen(bytes, compressedBytes, variable.subarray(nameBytes), sizesFollow);
      if (sizes === null) return 'the extra fields of its header are broken';
      // What is told behind the data is 0 in the header, unless a writer knew it after all.
      const same = (said: number, known: number) => said === known || (sizesFollow && said === 0);
      if (!same(sizes.bytes, entry.bytes) || !same(sizes.compressedBytes, entry.compressed_bytes)) {
        return 'header and directory tell two sizes';
      }
      return same(crc32, entry.crc32) ? null : 'header and directory tell two checksums';
    },
  };
}

/** Takes the sizes that did not fit into the header from the ZIP64 field. Null when it cannot be read. */
function widen(
  bytes: number,
  compressedBytes: number,
  extra: Buffer,
  sizesFollow: boolean,
): { bytes: number; compressedBytes: number } | null {
  if (bytes !== SEE_ZIP64 && compressedBytes !== SEE_ZIP64) return { bytes, compressedBytes };
  const field = findZip64(extra);
  // Some writers fill sizes that they do not know yet with ones.
  if (field === null && sizesFollow) return { bytes: 0, compressedBytes: 0 };
  let at = 0;
  const next = (): number => {
    at += 8;
    return field !== null && at <= field.length ? unsigned64(field, at - 8) : Number.NaN;
  };
  const sizes = {
    bytes: bytes === SEE_ZIP64 ? next() : bytes,
    compressedBytes: compressedBytes === SEE_ZIP64 ? next() : compressedBytes,
  };
  return Number.isNaN(sizes.bytes) || Number.isNaN(sizes.compressedBytes) ? null : sizes;
}

function findZip64(extra: Buffer): Buffer | null {
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) return null;
    if (extra.readUInt16LE(at) === ZIP64_FIELD) return extra.subarray(at + 4, end);
    at = end;
  }
  return null;
}

/**
 * Whether what stands behind the data tells the entry's CRC and sizes. The signature came into use after the format,
 * and sizes have 4 bytes or 8, and nothing says which: any form that fits is right.
 */
export function descriptorAgrees(behind: Buffer, { crc32, compressed_bytes, bytes }: ArchivedEntry): boolean {
  const agrees = (at: number): boolean => {
    if (at + 12 > behind.length || behind.readUInt32LE(at) !== crc32) return false;
    if (behind.readUInt32LE(at + 4) === compressed_bytes && behind.readUInt32LE(at + 8) === bytes) return true;
    return (
      at + 20 <= behind.length &&
      unsigned64(behind, at + 4) === compressed_bytes &&
      unsigned64(behind, at + 12) === bytes
    );
  };
  const isSigned = behind.length >= 4 && behind.readUInt32LE(0) === DESCRIPTOR_SIGNATURE;
  return agrees(0) || (isSigned && agrees(4));
}

function unsigned64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at);
}
