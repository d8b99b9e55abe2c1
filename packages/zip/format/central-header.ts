export const CENTRAL_SIGNATURE = 0x02014b50;
export const CENTRAL_BYTES = 46;

const ZIP64_FIELD = 0x0001;
const SEE_ZIP64 = 0xffffffff;
const DISK_SEE_ZIP64 = 0xffff;

/** One entry as the directory tells it. */
export interface CentralHeader {
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  readonly disk: number;
  /** MS-DOS attributes below, Unix mode in the upper half. */
  readonly attributes: number;
  /** Where the local header begins. */
  readonly offset: number;
  readonly rawName: Buffer;
  /** False when the extra fields run over their end, or ZIP64 says too little, too much, or otherwise. */
  readonly consistent: boolean;
}

/** Bytes of the header at `at`, name, extra fields and comment included; the first 46 bytes must be there. */
export function centralHeaderLength(bytes: Buffer, at: number): number {
  return CENTRAL_BYTES + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
}

/** Reads a header that is there in whole. */
export function readCentralHeader(bytes: Buffer, at: number): CentralHeader {
  const nameEnd = at + CENTRAL_BYTES + bytes.readUInt16LE(at + 28);
  const extraBytes = bytes.readUInt16LE(at + 30);
  const narrow = {
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
  const asksForMore =
    narrow.bytes === SEE_ZIP64 ||
    narrow.compressedBytes === SEE_ZIP64 ||
    narrow.offset === SEE_ZIP64 ||
    narrow.disk === DISK_SEE_ZIP64;
  if (extraBytes < 4) return { ...narrow, consistent: !asksForMore };
  const zip64 = findZip64(bytes.subarray(nameEnd, nameEnd + extraBytes));
  if (zip64 === 'broken') return { ...narrow, consistent: false };
  if (zip64 === null) return { ...narrow, consistent: !asksForMore };
  return asksForMore ? widen(narrow, zip64) : { ...narrow, consistent: repeats(narrow, zip64) };
}

type Narrow = Omit<CentralHeader, 'consistent'>;

/** The values that did not fit stand in this order, and nothing else does. */
function widen(narrow: Narrow, zip64: Buffer): CentralHeader {
  let at = 0;
  const next = (width: 4 | 8): number => {
    const value = at + width > zip64.length ? Number.NaN : unsigned(zip64, at, width);
    at += width;
    return value;
  };
  const bytes = narrow.bytes === SEE_ZIP64 ? next(8) : narrow.bytes;
  const compressedBytes = narrow.compressedBytes === SEE_ZIP64 ? next(8) : narrow.compressedBytes;
  const offset = narrow.offset === SEE_ZIP64 ? next(8) : narrow.offset;
  const disk = narrow.disk === DISK_SEE_ZIP64 ? next(4) : narrow.disk;
  return { ...narrow, bytes, compressedBytes, offset, disk, consistent: at === zip64.length };
}

/** Some writers repeat values that did fit; what they repeat must be the same. */
function repeats(narrow: Narrow, zip64: Buffer): boolean {
  const values = [narrow.bytes, narrow.compressedBytes, narrow.offset];
  const disk = zip64.length === 28 ? unsigned(zip64, 24, 4) : 0;
  const known = zip64.length === 28 || (zip64.length % 8 === 0 && zip64.length <= 24);
  return (
    known &&
    disk === 0 &&
    values.every((value, index) => index * 8 + 8 > zip64.length || unsigned(zip64, index * 8, 8) === value)
  );
}

function findZip64(extra: Buffer): Buffer | 'broken' | null {
  let found: Buffer | null = null;
  // Up to three bytes at the end are padding of some writers.
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) return 'broken';
    if (extra.readUInt16LE(at) === ZIP64_FIELD) {
      if (found !== null) return 'broken';
      found = extra.subarray(at + 4, end);
    }
    at = end;
  }
  return found;
}

/** Above 2^53 not exact, but so far beyond any file that it does not matter. */
function unsigned(bytes: Buffer, at: number, width: 4 | 8): number {
  return bytes.readUInt32LE(at) + (width === 8 ? bytes.readUInt32LE(at + 4) * 2 ** 32 : 0);
}
