import type { AudioExtractionRequested, BodyOf } from '@call-analysis/events';
import { Twins } from './checks/duplicate-names.ts';
import { isLitter, nestedName, readName, unsafeName } from './checks/entry-name.ts';
import { fileKind } from './checks/file-kind.ts';
import { Extents } from './checks/overlaps.ts';
import { EntryFaults, contradiction, unsafeArchive } from './faults.ts';
import {
  CENTRAL_BYTES,
  CENTRAL_SIGNATURE,
  type CentralHeader,
  centralHeaderLength,
  readCentralHeader,
} from './format/central-header.ts';
import { type EndRecord, findEndRecord } from './format/end-record.ts';
import { type ArchiveSource, Tail } from './tail.ts';

/** api.md, section 5, `UNSAFE_ARCHIVE`. */
export interface ArchiveLimits {
  readonly entries: number;
  /** What one entry and what all together may expand to. */
  readonly entryBytes: number;
  readonly archiveBytes: number;
  /** How often the expanded bytes may hold the compressed ones, where they are more than is harmless anyway. */
  readonly fold: number;
  readonly harmlessEntryBytes: number;
  readonly harmlessArchiveBytes: number;
}

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

export const defaultArchiveLimits: ArchiveLimits = {
  entries: 100_000,
  entryBytes: GIB,
  archiveBytes: 200 * GIB,
  fold: 200,
  harmlessEntryBytes: 256 * MIB,
  harmlessArchiveBytes: GIB,
};

export interface ArchiveEntry {
  /** All readings of its name after NFC, the likelier first: one, or CP866 and CP437. */
  readonly names: readonly [string, ...string[]];
  /** What an extraction has to know. */
  readonly record: EntryRecord;
}

export type EntryRecord = BodyOf<typeof AudioExtractionRequested>['entry'];

export interface Archive {
  /** In the order of the directory, without the litter of macOS and Windows. */
  readonly entries: readonly ArchiveEntry[];
}

/** Enough for some thousand entries, and over before anybody else on the event loop notices. */
const STEP_BYTES = MIB;

/**
 * Judges an archive from its directory alone and lists its entries. Every entry at fault is named, in
 * `details.entries` of Fault INVALID_ZIP, UNSAFE_ARCHIVE or NESTED_FOLDER, looked for in this order (api.md, section 5).
 * Of the file only its last 64 KiB are read, and the directory where it reaches further back.
 *
 * The directory is read here rather than with yauzl, which needs a turn of the event loop for every entry (2.4 s for
 * 100,000 of them, here 0.3 s) and takes nearly half of the archives that hostile hands have made: overlaps, links,
 * twins, second end records, false ratios. adm-zip wants the whole archive in memory.
 */
export async function readArchive(
  source: ArchiveSource,
  limits: ArchiveLimits = defaultArchiveLimits,
): Promise<Archive> {
  const tail = new Tail(source);
  const end = await findEndRecord(tail, limits.entries);
  const verdict = new Verdict(limits, source.sizeBytes, end.directoryStart);
  let count = 0;
  for await (const headers of directory(tail, end)) {
    for (const header of headers) verdict.add(header);
    count += headers.length;
  }
  if (count !== end.entries) throw contradiction(`it has ${count} entries where its end record says ${end.entries}`);
  return { entries: verdict.entries() };
}

/** The headers of the directory, some thousand at a time; never more than the end record counts. */
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
      if (!isHeader || left === 0) throw contradiction('something else stands among its entries');
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

/** General purpose bits 0, 6 and 13: encrypted, strongly encrypted, directory masked. */
const ENCRYPTED = (1 << 0) | (1 << 6) | (1 << 13);
const LOCAL_HEADER_BYTES = 30;

class Verdict {
  readonly #limits: ArchiveLimits;
  readonly #sizeBytes: number;
  readonly #directoryStart: number;
  readonly #invalid = new EntryFaults('INVALID_ZIP');
  readonly #unsafe = new EntryFaults('UNSAFE_ARCHIVE');
  readonly #nested = new EntryFaults('NESTED_FOLDER');
  readonly #twins = new Twins();
  readonly #extents = new Extents();
  readonly #entries: ArchiveEntry[] = [];
  #bytes = 0;
  #compressedBytes = 0;

  constructor(limits: ArchiveLimits, sizeBytes: number, directoryStart: number) {
    this.#limits = limits;
    this.#sizeBytes = sizeBytes;
    this.#directoryStart = directoryStart;
  }

  add(header: CentralHeader): void {
    const { rawName, flags, method, offset, compressedBytes, bytes, crc32 } = header;
    const names = readName(rawName, flags);
    if (names === null) return this.#invalid.add(rawName.toString(), 'has a name that is not UTF-8, though it says so');
    const [name] = names;
    // A local header repeats the name; what else it may hold cannot be seen from here.
    const end = offset + LOCAL_HEADER_BYTES + rawName.length + compressedBytes;
    const unreadable = this.#unreadable(header, end);
    if (unreadable !== null) return this.#invalid.add(name, unreadable);
    if (method !== 0 && method !== 8) {
      return this.#invalid.add(name, `is compressed by method ${method}; only stored and deflated entries are read`);
    }
    this.#bytes += bytes;
    this.#compressedBytes += compressedBytes;
    this.#extents.add(name, offset, end);
    const kind = fileKind(header.attributes);
    const notFile = kind === 'link' ? 'is a link' : kind === 'other' ? 'is not a file' : null;
    for (const reason of [unsafeName(name, rawName.length), notFile, this.#tooLarge(header), this.#twins.meet(names)]) {
      if (reason !== null) this.#unsafe.add(name, reason);
    }
    if (isLitter(name)) return;
    const nested = nestedName(name) ?? (kind === 'folder' ? 'is a folder' : null);
    if (nested !== null) return this.#nested.add(name, nested);
    const raw_name = rawName.toString('base64');
    this.#entries.push({
      names,
      record: { raw_name, offset, compressed_bytes: compressedBytes, bytes, crc32, method, flags },
    });
  }

  /** The entries, when nothing is wrong. */
  entries(): readonly ArchiveEntry[] {
    this.#invalid.throwIfAny();
    this.#extents.judge(this.#directoryStart, this.#unsafe);
    this.#unsafe.throwIfAny();
    this.#judgeTotal();
    this.#nested.throwIfAny();
    return this.#entries;
  }

  #unreadable(header: CentralHeader, end: number): string | null {
    if (!header.consistent) return 'has extra fields in the directory that contradict it or themselves';
    if (header.disk !== 0) return 'is on another disk';
    if ((header.flags & ENCRYPTED) !== 0) return 'is encrypted; no password is asked for';
    if (header.method === 0 && header.compressedBytes !== header.bytes) return 'is stored, yet said to have two sizes';
    return end > this.#sizeBytes ? 'reaches beyond the end of the file' : null;
  }

  #tooLarge({ bytes, compressedBytes }: CentralHeader): string | null {
    const { entryBytes, harmlessEntryBytes, fold } = this.#limits;
    if (bytes > entryBytes) return `expands to ${bytes} bytes, and at most ${entryBytes} are taken`;
    const isBomb = bytes > harmlessEntryBytes && bytes > fold * compressedBytes;
    return isBomb ? `expands more than ${fold}-fold, to ${bytes} bytes` : null;
  }

  #judgeTotal(): void {
    const { archiveBytes, harmlessArchiveBytes, fold } = this.#limits;
    const bytes = this.#bytes;
    if (bytes > archiveBytes)
      throw unsafeArchive(`it expands to ${bytes} bytes, and at most ${archiveBytes} are taken`);
    if (bytes > harmlessArchiveBytes && bytes > fold * this.#compressedBytes) {
      throw unsafeArchive(`it expands more than ${fold}-fold, to ${bytes} bytes`);
    }
  }
}
