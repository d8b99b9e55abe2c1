import { isAscii, isUtf8 } from 'node:buffer';

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

function upperHalf(characters: string): readonly string[] {
  return [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), ...characters];
}

/** All readings of a name after NFC, the likelier one first. Null when the flag says UTF-8 and the bytes are not. */
export function decodeName(raw: Buffer, flags: number): readonly [string, ...string[]] | null {
  if (isAscii(raw)) return [raw.toString('latin1')];
  if (isUtf8(raw)) return [raw.toString('utf8').normalize('NFC')];
  if ((flags & UTF8_FLAG) !== 0) return null;
  return [decode(raw, CP866), decode(raw, CP437)];
}

function decode(raw: Buffer, page: readonly string[]): string {
  let text = '';
  for (const byte of raw) text += page[byte] ?? '';
  return text;
}

/** Matches most names: nothing in them can mean anything but a file in the root. */
const HARMLESS = /^[^\p{Cc}\\/:.][^\p{Cc}\\/:]*$/u;

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
