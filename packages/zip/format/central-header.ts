import { findZip64, isInZip64, isLocationInZip64, repeatsClassic, Zip64Values } from './zip64.ts';

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
