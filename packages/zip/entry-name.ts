import { isUtf8 } from 'node:buffer';
import type { AudioExtractionRequested, BodyOf } from '@call-analysis/events';

/** General purpose bit 11: name and comment are UTF-8. */
const UTF8_FLAG = 1 << 11;
const MAX_NAME_BYTES = 255;

const CP866 = new TextDecoder('ibm866');
/** The upper half of a code page that TextDecoder does not have. */
const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒ' +
  'áíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
  '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀' +
  'αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';

/**
 * All readings of a name after NFC, the likelier one first. Null when the flag says UTF-8 and the bytes are not. Of a name
 * that is too long, the beginning is decoded, as much as a message shows.
 */
export function decodeName(raw: Buffer, flags: number): readonly [string, ...string[]] | null {
  if (raw.length > MAX_NAME_BYTES) return decodeBeginning(raw, flags);
  if (isUtf8(raw)) return [raw.toString('utf8').normalize('NFC')];
  if ((flags & UTF8_FLAG) !== 0) return null;
  // All characters of both code pages are in NFC.
  const asCp437 = raw.toString('latin1').replace(/[\x80-\xff]/g, (byte) => CP437[byte.charCodeAt(0) - 128]!);
  return [CP866.decode(raw), asCp437];
}

function decodeBeginning(raw: Buffer, flags: number): readonly [string] | null {
  // Four bytes for each of the 255 characters, and one more character, so that the message shows that it is cut.
  const beginning = raw.subarray(0, 4 * (MAX_NAME_BYTES + 1));
  if (isUtf8(raw)) return [beginning.toString('utf8').replace(/\ufffd+$/u, '')];
  return (flags & UTF8_FLAG) === 0 ? [CP866.decode(beginning)] : null;
}

/** Matches most names: nothing in them can mean anything but a file in the root. */
const HARMLESS = /^[^\p{Cc}\\/:.][^\p{Cc}\\/:]*$/u;

export function isTooLong(raw: Buffer): boolean {
  return raw.length > MAX_NAME_BYTES;
}

/** Why a name is unsafe, or null (docs/api.md, "Presigned uploads", UNSAFE_ARCHIVE). */
export function unsafeName(name: string, rawBytes: number): string | null {
  if (rawBytes > MAX_NAME_BYTES) return `has a name of ${rawBytes} bytes, and the limit is ${MAX_NAME_BYTES}`;
  if (HARMLESS.test(name)) return null;
  if (name === '') return 'an entry has no name';
  if (/\p{Cc}/u.test(name)) return 'has a control character in its name';
  if (name.includes('\\')) return 'has a backslash in its name';
  if (name.startsWith('/')) return 'has an absolute path as its name';
  if (/^[a-z]:/i.test(name)) return 'names a drive';
  if (name.split('/').includes('..')) return 'leads out of the archive (a part of its name is `..`)';
  return null;
}

/** Hidden files of macOS and Windows (docs/api.md, "Presigned uploads", NESTED_FOLDER). */
const LITTER = /^__MACOSX\/|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;

export function isLitter(name: string): boolean {
  return LITTER.test(name);
}

/** Why a name does not name a file in the root, or null. */
export function nestedName(name: string): string | null {
  if (name.endsWith('/')) return 'is a folder';
  return name.includes('/') || name === '.' ? 'is not in the root' : null;
}

type Match =
  | { readonly is: 'found'; readonly entry: ArchiveEntry }
  /** An earlier row has named it. */
  | { readonly is: 'taken' }
  /** `nearest`: an entry whose name differs only in upper and lower case. */
  | { readonly is: 'missing'; readonly nearest: string | null };

/**
 * Finds the entries of an archive by the names in the rows of a CSV. Names must be equal after NFC, including upper and
 * lower case (docs/api.md, "Presigned uploads"). A name in an old code page is found by either of its readings.
 */
export class EntryNames {
  readonly #entries: readonly ArchiveEntry[];
  readonly #byName = new Map<string, ArchiveEntry>();
  readonly #taken = new Set<ArchiveEntry>();
  #byFoldedName: Map<string, string> | null = null;

  constructor(entries: readonly ArchiveEntry[]) {
    this.#entries = entries;
    for (const entry of entries) {
      // An earlier reading takes precedence.
      for (const name of entry.names) if (!this.#byName.has(name)) this.#byName.set(name, entry);
    }
  }

  /** Returns every entry once. */
  take(fileName: string): Match {
    const name = fileName.normalize('NFC');
    const entry = this.#byName.get(name);
    if (entry === undefined) return { is: 'missing', nearest: this.#nearest(name) };
    if (this.#taken.has(entry)) return { is: 'taken' };
    this.#taken.add(entry);
    return { is: 'found', entry };
  }

  /** The names of the entries that were not taken, in the order of the directory. */
  rest(): string[] {
    return this.#entries.filter((entry) => !this.#taken.has(entry)).map(({ names }) => names[0]);
  }

  #nearest(name: string): string | null {
    this.#byFoldedName ??= new Map(Array.from(this.#byName.keys(), (each) => [fold(each), each]));
    return this.#byFoldedName.get(fold(name)) ?? null;
  }
}

/** A name as names are compared when upper and lower case are the same. */
export function fold(name: string): string {
  return name.toLowerCase().normalize('NFC');
}

/** An entry as the directory describes it. The archive need not be read again to extract it. */
export type EntryRecord = BodyOf<typeof AudioExtractionRequested>['entry'];

export interface ArchiveEntry {
  /** All readings of the name after NFC, the likelier one first: one reading, or those in CP866 and CP437. */
  readonly names: readonly [string, ...string[]];
  readonly record: EntryRecord;
}
