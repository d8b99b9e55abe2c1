import { type ArchiveEntry, decodeName, fold, isLitter, isTooLong, nestedName, unsafeName } from './entry-name.ts';
import { EntryFaults, contradiction, unsafeArchive } from './faults.ts';
import { type EndRecord, findEndRecord } from './format/end-record.ts';
import {
  CENTRAL_BYTES,
  CENTRAL_SIGNATURE,
  type CentralHeader,
  centralHeaderLength,
  ENCRYPTED,
  LOCAL_HEADER_BYTES,
  readCentralHeader,
} from './format/headers.ts';
import { type ArchiveSource, Tail } from './source.ts';

interface Extent {
  readonly name: string;
  readonly start: number;
  /** Exclusive. The entry reaches at least to here. */
  readonly end: number;
}

/**
 * Reports entries that overlap an earlier one or the directory, and bytes that precede the first entry. Entries that share
 * bytes are how a small archive expands without end.
 */
function reportOverlaps(extents: Extent[], directoryStart: number, faults: EntryFaults): void {
  extents.sort((left, right) => left.start - right.start);
  const first = extents[0];
  const firstStart = first?.start ?? directoryStart;
  if (firstStart > 0 && first === undefined) faults.add('', `${firstStart} bytes precede its directory`);
  else if (firstStart > 0) faults.add(first!.name, `is the first entry, and ${firstStart} bytes precede it`);
  let reach: Extent | null = null;
  for (const extent of extents) {
    if (reach !== null && extent.start < reach.end)
      faults.add(extent.name, `overlaps with ${JSON.stringify(reach.name.slice(0, 255))}`);
    if (extent.end > directoryStart) faults.add(extent.name, 'overlaps with the directory of the archive');
    if (reach === null || extent.end > reach.end) reach = extent;
  }
}

/**
 * Finds entries with the same name, compared in lower case after NFC (docs/api.md, "Presigned uploads"). Names in an
 * old code page are compared with each other in their CP866 readings: in CP437, the Russian letters А and З would be
 * duplicates (Ç and ç).
 */
class DuplicateNames {
  readonly #plain = new Set<string>();
  readonly #cp866 = new Set<string>();
  readonly #cp437 = new Set<string>();

  /** The fault of the next entry, or null. */
  check([first, second]: readonly [string, ...string[]]): string | null {
    const name = fold(first);
    const other = second === undefined ? null : fold(second);
    const isDuplicate =
      other === null
        ? this.#plain.has(name) || this.#cp866.has(name) || this.#cp437.has(name)
        : this.#plain.has(name) || this.#plain.has(other) || this.#cp866.has(name);
    if (other === null) this.#plain.add(name);
    else {
      this.#cp866.add(name);
      this.#cp437.add(other);
    }
    return isDuplicate ? 'has the name of another entry (upper and lower case are the same)' : null;
  }
}

/** The kind of an entry according to its external attributes. */
type FileKind = 'file' | 'folder' | 'link' | 'other';

const UNIX_KIND = 0o170000;
const UNIX_FILE = 0o100000;
const UNIX_FOLDER = 0o040000;
const UNIX_LINK = 0o120000;

const DOS_VOLUME_LABEL = 0x08;
const DOS_FOLDER = 0x10;
const WINDOWS_REPARSE_POINT = 0x400;

/** A Unix mode in the upper half counts for entries of any system, because readers follow it too. */
function fileKind(attributes: number): FileKind {
  const kind = (attributes >>> 16) & UNIX_KIND;
  if (kind === UNIX_FILE) return 'file';
  if (kind === UNIX_FOLDER) return 'folder';
  if (kind === UNIX_LINK) return 'link';
  if (kind !== 0) return 'other';
  if ((attributes & WINDOWS_REPARSE_POINT) !== 0) return 'link';
  if ((attributes & DOS_VOLUME_LABEL) !== 0) return 'other';
  return (attributes & DOS_FOLDER) !== 0 ? 'folder' : 'file';
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** Limits beyond which an archive is UNSAFE_ARCHIVE (docs/api.md, "Presigned uploads"). */
export const defaultArchiveLimits = {
  entries: 100_000,
  /** The largest expanded size of one entry. */
  entryBytes: GIB,
  /** The largest expanded size of all entries together. */
  archiveBytes: 200 * GIB,
  /** The highest ratio of expanded to compressed size, for sizes above the harmless ones. */
  fold: 200,
  harmlessEntryBytes: 256 * MIB,
  harmlessArchiveBytes: GIB,
};
export type ArchiveLimits = Readonly<typeof defaultArchiveLimits>;

export interface Archive {
  /** In the order of the directory, without the hidden files that macOS and Windows add. */
  readonly entries: readonly ArchiveEntry[];
}

/** Bytes parsed at a time: some thousand entries, few enough not to block the event loop. */
const STEP_BYTES = MIB;

/**
 * Checks an archive by its directory alone and lists its entries. Faults INVALID_ZIP, UNSAFE_ARCHIVE and NESTED_FOLDER,
 * checked in this order, name every entry at fault in `details.entries` (docs/api.md, "Presigned uploads"). Only the
 * last 64 KiB of the file are read, and the rest of the directory when it is longer.
 */
export async function readArchive(
  source: ArchiveSource,
  limits: ArchiveLimits = defaultArchiveLimits,
): Promise<Archive> {
  const tail = new Tail(source);
  const end = await findEndRecord(tail, limits.entries);
  const checks = new EntryChecks(limits, source.sizeBytes);
  let count = 0;
  for await (const headers of directory(tail, end)) {
    for (const header of headers) checks.add(header);
    count += headers.length;
  }
  if (count !== end.entries) throw contradiction(`it has ${count} entries where its end record says ${end.entries}`);
  return { entries: checks.entries(end.directoryStart) };
}

/** The headers of the directory, some thousand at a time, and never more than the end record counts. */
async function* directory(tail: Tail, end: EndRecord): AsyncGenerator<CentralHeader[]> {
  let held: Buffer = Buffer.alloc(0);
  let left = end.entries;
  for (let at = end.directoryStart; at < end.directoryEnd;) {
    const next = Math.min(at + STEP_BYTES, end.directoryEnd);
    const bytes = await tail.read(at, next);
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    at = next;
    const headers: CentralHeader[] = [];
    let used = 0;
    while (held.length - used >= CENTRAL_BYTES) {
      const isHeader = held.readUInt32LE(used) === CENTRAL_SIGNATURE;
      if (!isHeader || left === 0) throw contradiction('there is something else among its entries');
      const length = centralHeaderLength(held, used);
      if (held.length - used < length) break;
      headers.push(readCentralHeader(held, used));
      used += length;
      left--;
    }
    yield headers;
    held = held.subarray(used);
  }
  if (held.length > 0) throw contradiction('its last entry is cut short');
}

/** Checks the entries of one directory, and collects them with their faults. */
class EntryChecks {
  readonly #limits: ArchiveLimits;
  readonly #sizeBytes: number;
  readonly #invalid = new EntryFaults('INVALID_ZIP');
  readonly #unsafe = new EntryFaults('UNSAFE_ARCHIVE');
  readonly #nested = new EntryFaults('NESTED_FOLDER');
  readonly #names = new DuplicateNames();
  readonly #extents: Extent[] = [];
  readonly #entries: ArchiveEntry[] = [];
  #bytes = 0;
  #compressedBytes = 0;

  constructor(limits: ArchiveLimits, sizeBytes: number) {
    this.#limits = limits;
    this.#sizeBytes = sizeBytes;
  }

  add(header: CentralHeader): void {
    const { rawName, flags, method, offset, compressedBytes, bytes, crc32 } = header;
    const names = decodeName(rawName, flags);
    if (names === null)
      return this.#invalid.add(rawName.toString(), 'has a name that is not UTF-8, although its flag says so');
    const [name] = names;
    // The local header repeats the name. It may also have extra fields that the directory does not list.
    const end = offset + LOCAL_HEADER_BYTES + rawName.length + compressedBytes;
    const unreadable = this.#unreadable(header, end);
    if (unreadable !== null) return this.#invalid.add(name, unreadable);
    if (method !== 0 && method !== 8) {
      return this.#invalid.add(
        name,
        `is compressed by method ${method}; only stored and deflated entries are supported`,
      );
    }
    this.#bytes += bytes;
    this.#compressedBytes += compressedBytes;
    this.#extents.push({ name, start: offset, end });
    const kind = fileKind(header.attributes);
    const notFile = kind === 'link' ? 'is a link' : kind === 'other' ? 'is not a file' : null;
    for (const reason of [
      unsafeName(name, rawName.length),
      notFile,
      this.#tooLarge(header),
      // A name that is too long is not compared: a directory may have hundreds of megabytes of them.
      isTooLong(rawName) ? null : this.#names.check(names),
    ]) {
      if (reason !== null) this.#unsafe.add(name, reason);
    }
    if (isTooLong(rawName) || isLitter(name)) return;
    const nested = nestedName(name) ?? (kind === 'folder' ? 'is a folder' : null);
    if (nested !== null) return this.#nested.add(name, nested);
    const raw_name = rawName.toString('base64');
    this.#entries.push({
      names,
      record: { raw_name, offset, compressed_bytes: compressedBytes, bytes, crc32, method, flags },
    });
  }

  /** The entries. Throws when there are faults. */
  entries(directoryStart: number): readonly ArchiveEntry[] {
    this.#invalid.throwIfAny();
    reportOverlaps(this.#extents, directoryStart, this.#unsafe);
    this.#unsafe.throwIfAny();
    this.#checkTotal();
    this.#nested.throwIfAny();
    return this.#entries;
  }

  #unreadable(header: CentralHeader, end: number): string | null {
    if (!header.isConsistent) return 'has extra fields in the directory that contradict it or themselves';
    if (header.disk !== 0) return 'is on another disk';
    if ((header.flags & ENCRYPTED) !== 0) return 'is encrypted';
    if (header.method === 0 && header.compressedBytes !== header.bytes)
      return 'is stored without compression, but has two different sizes';
    return end > this.#sizeBytes ? 'reaches beyond the end of the file' : null;
  }

  #tooLarge({ bytes, compressedBytes }: CentralHeader): string | null {
    const { entryBytes, harmlessEntryBytes, fold } = this.#limits;
    if (bytes > entryBytes) return `expands to ${bytes} bytes, and the limit is ${entryBytes}`;
    const isBomb = bytes > harmlessEntryBytes && bytes > fold * compressedBytes;
    return isBomb ? `expands more than ${fold}-fold, to ${bytes} bytes` : null;
  }

  #checkTotal(): void {
    const { archiveBytes, harmlessArchiveBytes, fold } = this.#limits;
    const bytes = this.#bytes;
    if (bytes > archiveBytes) throw unsafeArchive(`it expands to ${bytes} bytes, and the limit is ${archiveBytes}`);
    if (bytes > harmlessArchiveBytes && bytes > fold * this.#compressedBytes) {
      throw unsafeArchive(`it expands more than ${fold}-fold, to ${bytes} bytes`);
    }
  }
}
