import type { Fault } from '@call-analysis/fault';
import { contradiction, invalidZip, unsafeArchive } from '../faults.ts';
import type { Tail } from '../tail.ts';
import { CENTRAL_BYTES } from './central-header.ts';

/** What the end of an archive says of its directory. It is consistent with itself and with the file's size. */
export interface EndRecord {
  /** Bytes of the file. */
  readonly directoryStart: number;
  readonly directoryEnd: number;
  readonly entries: number;
}

const LOCAL_SIGNATURE = 0x04034b50;
const SIGNATURE = Buffer.from('PK\x05\x06', 'latin1');
const END_BYTES = 22;
const ZIP64_LOCATOR_SIGNATURE = 0x07064b50;
const ZIP64_LOCATOR_BYTES = 20;
const ZIP64_END_SIGNATURE = 0x06064b50;
const ZIP64_END_BYTES = 56;
/** The size that a ZIP64 end record says of itself leaves its first fields out. */
const ZIP64_END_UNCOUNTED = 12;
const MAX_COMMENT = 0xffff;
/** api.md, section 5: what may stand behind the end record. Tape and block devices pad with zeros. */
const MAX_ZEROS = 0xffff;
/** How far back an end record is looked for only to say why the archive is refused. */
const SEARCHED_BYTES = 16 * 1024 * 1024;
const SEARCH_STEP = 1024 * 1024;

/**
 * Finds the one end record and reads it, with its ZIP64 form. Readers differ in which record they take when there
 * seem to be two, so the archive that was checked and the archive that somebody else opens would be two archives:
 * a second possible one is refused, and every field that is said twice must say the same.
 * Fault INVALID_ZIP or UNSAFE_ARCHIVE.
 */
export async function findEndRecord(tail: Tail, maxEntries: number): Promise<EndRecord> {
  if (tail.sizeBytes < END_BYTES) throw invalidZip('it is too short to be one');
  const position = await locate(tail);
  const { end, entries, offset, sizeBytes } = await readEndRecord(tail, position);
  const gap = end - sizeBytes - offset;
  if (gap !== 0) throw (await bytesBefore(tail, gap)) ?? contradiction('it does not end where its end record begins');
  if (entries * CENTRAL_BYTES > sizeBytes || (entries === 0 && sizeBytes > 0)) {
    throw contradiction('it is of another size than its number of entries needs');
  }
  if (entries > maxEntries) throw unsafeArchive(`it has ${entries} entries, and at most ${maxEntries} are taken`);
  return { directoryStart: offset, directoryEnd: end, entries };
}

async function locate(tail: Tail): Promise<number> {
  const { sizeBytes } = tail;
  // An end record may end in zeros of its own, and they must not cost a second request.
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
  if (first === undefined) throw await whyNone(tail);
  // Some readers take the last signature whatever it says of its comment.
  if (signatures.some((at) => at > first))
    throw invalidZip('there are two possible end records, one inside the comment of the other');
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
  const zip64 = await readZip64(tail, position);
  const said = zip64?.record ?? classic;
  if (said.disk !== 0 || said.directoryDisk !== 0 || said.entriesHere !== said.entries || (zip64?.disks ?? 1) > 1) {
    throw invalidZip('it is one part of several, and only whole ones are read');
  }
  if (zip64 !== null) {
    const same =
      agrees(classic.disk, 0xffff, said.disk) &&
      agrees(classic.directoryDisk, 0xffff, said.directoryDisk) &&
      agrees(classic.entriesHere, 0xffff, said.entriesHere) &&
      agrees(classic.entries, 0xffff, said.entries) &&
      agrees(classic.sizeBytes, 0xffffffff, said.sizeBytes) &&
      agrees(classic.offset, 0xffffffff, said.offset);
    if (!same) throw contradiction('its two end records (ZIP64 and classic) disagree');
  }
  return { end: zip64?.start ?? position, entries: said.entries, offset: said.offset, sizeBytes: said.sizeBytes };
}

/** A field at its highest value stands for "see ZIP64". */
function agrees(classic: number, highest: number, wide: number): boolean {
  return classic === highest || classic === wide;
}

async function readZip64(tail: Tail, position: number) {
  if (position < ZIP64_LOCATOR_BYTES) return null;
  const locatorStart = position - ZIP64_LOCATOR_BYTES;
  const locator = await tail.read(locatorStart, position);
  if (locator.readUInt32LE(0) !== ZIP64_LOCATOR_SIGNATURE) return null;
  const start = u64(locator, 8);
  const wide = await zip64RecordAt(tail, start, locatorStart);
  if (wide === null) {
    const shift = locatorStart - ZIP64_END_BYTES - start;
    throw (await bytesBefore(tail, shift)) ?? contradiction('its ZIP64 end record is not where it is said to be');
  }
  return {
    start,
    // Some writers leave the total at 0.
    disks: Math.max(1, locator.readUInt32LE(16)) + locator.readUInt32LE(4),
    record: {
      disk: wide.readUInt32LE(16),
      directoryDisk: wide.readUInt32LE(20),
      entriesHere: u64(wide, 24),
      entries: u64(wide, 32),
      sizeBytes: u64(wide, 40),
      offset: u64(wide, 48),
    },
  };
}

/** A ZIP64 end record that stands there and reaches to its locator, or null. */
async function zip64RecordAt(tail: Tail, start: number, locatorStart: number): Promise<Buffer | null> {
  if (start + ZIP64_END_BYTES > locatorStart) return null;
  const record = await tail.read(start, start + ZIP64_END_BYTES);
  if (record.readUInt32LE(0) !== ZIP64_END_SIGNATURE) return null;
  return start + ZIP64_END_UNCOUNTED + u64(record, 4) === locatorStart ? record : null;
}

/**
 * All that the end says may be off by as many bytes as somebody put before the archive. Null when no entry begins
 * behind so many.
 */
async function bytesBefore(tail: Tail, count: number): Promise<Fault | null> {
  if (count <= 0 || count + 4 > tail.sizeBytes) return null;
  const begins = (await tail.read(count, count + 4)).readUInt32LE(0) === LOCAL_SIGNATURE;
  return begins ? unsafeArchive(`${count} bytes stand before its first entry`) : null;
}

/** Above 2^53 not exact, but so far beyond any file that it does not matter. */
function u64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at);
}

/** Says whether the end is missing, cut short, or buried under other bytes. */
async function whyNone(tail: Tail): Promise<Fault> {
  const { sizeBytes } = tail;
  const floor = Math.max(0, sizeBytes - SEARCHED_BYTES);
  for (let end = sizeBytes; end > floor; end -= SEARCH_STEP) {
    const start = Math.max(floor, end - SEARCH_STEP);
    const bytes = await tail.read(start, Math.min(sizeBytes, end + END_BYTES));
    for (const at of positionsOf(SIGNATURE, bytes).reverse()) {
      const record = bytes.subarray(at, at + END_BYTES);
      if (record.length < END_BYTES || !isPlausible(record, start + at)) continue;
      if (start + at + END_BYTES + record.readUInt16LE(20) > sizeBytes) break;
      return findErased(tail);
    }
  }
  return invalidZip('its end is not there. It is another kind of file, or was cut short');
}

/** RFC 2046, 5.1.1: a boundary has at most 70 characters. */
const END_OF_FORM = /\r\n--[^\r\n]{1,70}--\r\n$/;

/** What was put as a part of a form is no fault of the program that made the archive. */
async function findErased(tail: Tail): Promise<Fault> {
  const last = await tail.read(Math.max(0, tail.sizeBytes - 80), tail.sizeBytes);
  if (!END_OF_FORM.test(last.toString('latin1'))) return unsafeArchive('other bytes follow its end');
  return unsafeArchive(
    'other bytes follow its end, those of a form',
    'Put the bytes of the file alone, as curl -T does, not a form.',
  );
}

/** Bytes of a recording may look like the signature; hardly ever like a record. */
function isPlausible(record: Buffer, position: number): boolean {
  const classicEnd = record.readUInt32LE(12) + record.readUInt32LE(16);
  const inPlace = classicEnd <= position || record.readUInt32LE(16) === 0xffffffff;
  return (
    record.readUInt16LE(4) === record.readUInt16LE(6) && record.readUInt16LE(8) === record.readUInt16LE(10) && inPlace
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
