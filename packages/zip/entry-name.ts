import { isAscii, isUtf8 } from 'node:buffer';
import type { AudioExtractionRequested, BodyOf } from '@call-analysis/events';

/** General purpose bit 11: name and comment are UTF-8. */
const UTF8_FLAG = 1 << 11;
const MAX_NAME_BYTES = 255;

/** The upper halves of two code pages. All their characters are in NFC. */
const CP866 = upperHalf(
  'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ' +
    'абвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀' +
    'рстуфхцчшщъыьэюяЁёЄєЇїЎў°∙·√№¤■\u00a0',
);
const CP437 = upperHalf(
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒ' +
    'áíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐' +
    '└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀' +
    'αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
);

/** The UTF-16 unit of each byte. */
function upperHalf(characters: string): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => (byte < 128 ? byte : characters.charCodeAt(byte - 128)));
}

/**
 * All readings of a name after NFC, the likelier one first. Null when the flag says UTF-8 and the bytes are not. Of a name
 * that is too long, the beginning is decoded, as much as a message shows.
 */
export function decodeName(raw: Buffer, flags: number): readonly [string, ...string[]] | null {
  if (raw.length > MAX_NAME_BYTES) return decodeBeginning(raw, flags);
  if (isAscii(raw)) return [raw.toString('latin1')];
  if (isUtf8(raw)) return [raw.toString('utf8').normalize('NFC')];
  if ((flags & UTF8_FLAG) !== 0) return null;
  return [decode(raw, CP866), decode(raw, CP437)];
}

function decodeBeginning(raw: Buffer, flags: number): readonly [string] | null {
  // Four bytes for each of the 255 characters, and one more character, so that the message shows that it is cut.
  const beginning = raw.subarray(0, 4 * (MAX_NAME_BYTES + 1));
  if (isUtf8(raw)) return [beginning.toString('utf8').replace(/\ufffd+$/u, '')];
  return (flags & UTF8_FLAG) === 0 ? [decode(beginning, CP866)] : null;
}

function decode(raw: Buffer, page: Uint16Array): string {
  const units = Buffer.allocUnsafe(2 * raw.length);
  for (let index = 0; index < raw.length; index++) units.writeUInt16LE(page[raw[index]!]!, 2 * index);
  return units.toString('utf16le');
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
  readonly #byName = new Map<string, number>();
  readonly #taken: Uint8Array;
  #byFoldedName: Map<string, string> | null = null;

  constructor(entries: readonly ArchiveEntry[]) {
    this.#entries = entries;
    this.#taken = new Uint8Array(entries.length);
    for (const [index, { names }] of entries.entries()) {
      // An earlier reading takes precedence.
      for (const name of names) if (!this.#byName.has(name)) this.#byName.set(name, index);
    }
  }

  /** Returns every entry once. */
  take(fileName: string): Match {
    const name = fileName.normalize('NFC');
    const index = this.#byName.get(name);
    const entry = index === undefined ? undefined : this.#entries[index];
    if (index === undefined || entry === undefined) return { is: 'missing', nearest: this.#nearest(name) };
    if (this.#taken[index] === 1) return { is: 'taken' };
    this.#taken[index] = 1;
    return { is: 'found', entry };
  }

  /** The names of the entries that were not taken, in the order of the directory. */
  rest(): string[] {
    return this.#entries.filter((_, index) => this.#taken[index] === 0).map(({ names }) => names[0]);
  }

  #nearest(name: string): string | null {
    this.#byFoldedName ??= new Map(Array.from(this.#byName.keys(), (each) => [fold(each), each]));
    return this.#byFoldedName.get(fold(name)) ?? null;
  }
}

function fold(name: string): string {
  return name.toLowerCase().normalize('NFC');
}

/** An entry as the directory describes it. The archive need not be read again to extract it. */
export type EntryRecord = BodyOf<typeof AudioExtractionRequested>['entry'];

export interface ArchiveEntry {
  /** All readings of the name after NFC, the likelier one first: one reading, or those in CP866 and CP437. */
  readonly names: readonly [string, ...string[]];
  readonly record: EntryRecord;
}
