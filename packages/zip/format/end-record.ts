import type { Fault } from '@call-analysis/fault';
import { contradiction, invalidZip, unsafeArchive } from '../faults.ts';
import type { Tail } from '../source.ts';
import { CENTRAL_BYTES, LOCAL_SIGNATURE } from './headers.ts';
import { agreesWithClassic, findZip64End } from './zip64.ts';

/** The directory as the end of the archive describes it. Consistent with itself and with the size of the file. */
export interface EndRecord {
  /** Bytes of the file. */
  readonly directoryStart: number;
  readonly directoryEnd: number;
  readonly entries: number;
}

/** The end record (APPNOTE.TXT, 4.3.16). */
const SIGNATURE = Buffer.from('PK\x05\x06', 'latin1');
const END_BYTES = 22;
const MAX_COMMENT = 0xffff;
/**
 * The zeros that may follow the end record: tapes and block devices pad with them (docs/api.md, "Presigned uploads").
 */
const MAX_ZEROS = 0xffff;
/** How far back an end record is searched for, only to explain why the archive is refused. */
const SEARCHED_BYTES = 16 * 1024 * 1024;
const SEARCH_STEP = 1024 * 1024;

/**
 * Finds the only end record and reads it, with its ZIP64 form. Readers differ in which record they use when there seem
 * to be two. The archive that was checked would then not be the archive that another program opens. So a second
 * possible record is refused, and a value that is given twice must be the same.
 * Fault INVALID_ZIP or UNSAFE_ARCHIVE.
 */
export async function findEndRecord(tail: Tail, maxEntries: number): Promise<EndRecord> {
  if (tail.sizeBytes < END_BYTES) throw invalidZip('it is too short to be one');
  const position = await locate(tail);
  const { end, entries, offset, sizeBytes } = await readEndRecord(tail, position);
  const gap = end - sizeBytes - offset;
  if (gap !== 0) throw (await bytesBefore(tail, gap)) ?? contradiction('it does not end where its end record begins');
  if (entries * CENTRAL_BYTES > sizeBytes || (entries === 0 && sizeBytes > 0)) {
    throw contradiction('its size does not fit its number of entries');
  }
  if (entries > maxEntries) throw unsafeArchive(`it has ${entries} entries, and the limit is ${maxEntries}`);
  return { directoryStart: offset, directoryEnd: end, entries };
}

async function locate(tail: Tail): Promise<number> {
  const { sizeBytes } = tail;
  // Read enough at once for an end record that itself ends in zeros, so that it costs no second request.
  await tail.reachBack(sizeBytes - MAX_COMMENT - 2 * END_BYTES);
  const contentEnd = sizeBytes - Math.min(trailingZeros(tail.bytes), MAX_ZEROS);
  await tail.reachBack(contentEnd - MAX_COMMENT - END_BYTES);
  const signatures = positionsOf(SIGNATURE, tail.bytes).map((at) => tail.start + at);
  const possible = signatures.filter((at) => {
    if (at + END_BYTES > sizeBytes) return false;
    const recordEnd = at + END_BYTES + tail.bytes.readUInt16LE(at - tail.start + 20);
    return recordEnd >= contentEnd && recordEnd <= sizeBytes;
  });
  const [first] = possible;
  if (first === undefined) throw await explainMissing(tail);
  // Some readers use the last signature and ignore its comment length.
  if (signatures.some((at) => at > first)) {
    throw invalidZip('there are two possible end records, one inside the comment of the other');
  }
  return first;
}

async function readEndRecord(
  tail: Tail,
  position: number,
): Promise<{ end: number; entries: number; offset: number; sizeBytes: number }> {
  const record = await tail.read(position, position + END_BYTES);
  const classic = {
    disk: record.readUInt16LE(4),
    directoryDisk: record.readUInt16LE(6),
    entriesHere: record.readUInt16LE(8),
    entries: record.readUInt16LE(10),
    sizeBytes: record.readUInt32LE(12),
    offset: record.readUInt32LE(16),
  };
  const zip64 = await findZip64End(tail, position);
  if (zip64?.misplacedBy !== undefined) {
    throw (
      (await bytesBefore(tail, zip64.misplacedBy)) ??
      contradiction('its ZIP64 end record is not where its locator says')
    );
  }
  const values = zip64?.values ?? classic;
  if (
    values.disk !== 0 ||
    values.directoryDisk !== 0 ||
    values.entriesHere !== values.entries ||
    (zip64?.disks ?? 1) > 1
  ) {
    throw invalidZip('it is one part of several, and only complete archives are read');
  }
  if (zip64 !== null && !agreesWithClassic(zip64.values, classic)) {
    throw contradiction('its two end records (ZIP64 and classic) disagree');
  }
  const { entries, offset, sizeBytes } = values;
  return { end: zip64?.start ?? position, entries, offset, sizeBytes };
}

/**
 * When all offsets are too low by the same number of bytes, something was put before the archive. Null unless an entry
 * begins after that many bytes.
 */
async function bytesBefore(tail: Tail, count: number): Promise<Fault | null> {
  if (count <= 0 || count + 4 > tail.sizeBytes) return null;
  const begins = (await tail.read(count, count + 4)).readUInt32LE(0) === LOCAL_SIGNATURE;
  return begins ? unsafeArchive(`${count} bytes precede its first entry`) : null;
}

/** Explains whether the end record is missing, cut short, or followed by other bytes. */
async function explainMissing(tail: Tail): Promise<Fault> {
  const { sizeBytes } = tail;
  const floor = Math.max(0, sizeBytes - SEARCHED_BYTES);
  for (let end = sizeBytes; end > floor; end -= SEARCH_STEP) {
    const start = Math.max(floor, end - SEARCH_STEP);
    const bytes = await tail.read(start, Math.min(sizeBytes, end + END_BYTES));
    for (const at of positionsOf(SIGNATURE, bytes).reverse()) {
      const record = bytes.subarray(at, at + END_BYTES);
      if (record.length < END_BYTES || !isPlausible(record, start + at)) continue;
      if (start + at + END_BYTES + record.readUInt16LE(20) > sizeBytes) break;
      return otherBytesFollow(tail);
    }
  }
  return invalidZip('it has no end record. It is another kind of file, or was cut short');
}

/** RFC 2046, 5.1.1: a boundary has at most 70 characters. */
const END_OF_FORM = /\r\n--[^\r\n]{1,70}--\r\n$/;

/** Recognizes an archive that was uploaded as a part of a form: the program that created it is not at fault. */
async function otherBytesFollow(tail: Tail): Promise<Fault> {
  const last = await tail.read(Math.max(0, tail.sizeBytes - 80), tail.sizeBytes);
  if (!END_OF_FORM.test(last.toString('latin1'))) return unsafeArchive('other bytes follow its end');
  return unsafeArchive(
    'other bytes follow its end, those of a form',
    'Put the bytes of the file itself, as curl -T does, not a form.',
  );
}

/** The signature may occur in the data of a recording. A record that makes sense hardly ever does. */
function isPlausible(record: Buffer, position: number): boolean {
  const classicEnd = record.readUInt32LE(12) + record.readUInt32LE(16);
  const isInPlace = classicEnd <= position || record.readUInt32LE(16) === 0xffffffff;
  return (
    record.readUInt16LE(4) === record.readUInt16LE(6) && record.readUInt16LE(8) === record.readUInt16LE(10) && isInPlace
  );
}

function positionsOf(signature: Buffer, bytes: Buffer): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(signature); at !== -1; at = bytes.indexOf(signature, at + 1)) found.push(at);
  return found;
}

function trailingZeros(bytes: Buffer): number {
  let count = 0;
  while (count < bytes.length && bytes[bytes.length - 1 - count] === 0) count++;
  return count;
}
