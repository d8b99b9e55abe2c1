/**
 * Keys as paths that any file system keeps apart. Lower-case letters, digits, `_`, `-` and inner dots are kept. Every
 * other byte of the UTF-8 form becomes `%xx`, so names cannot clash by case or by Unicode normalisation.
 * A folder ends in `+`, so the keys `a` and `a/b` can both exist. An encoded part that is too long for one name
 * continues in a folder that ends in `~`.
 */
const PIECE_LENGTH = 200;
const RESERVED_ON_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/;

export function folderPath(parts: readonly string[]): string[] {
  return parts.flatMap((part) => pieces(part, '+'));
}

export function filePath(parts: readonly string[]): string[] {
  return [...folderPath(parts.slice(0, -1)), ...pieces(parts.at(-1) ?? '', '')];
}

/** The part of the encoded key that a folder entry represents. */
export function readName(name: string): string {
  if (name.endsWith('+')) return `${name.slice(0, -1)}/`;
  return name.endsWith('~') ? name.slice(0, -1) : name;
}

export function decodeKey(encoded: string): string {
  return decodeURIComponent(encoded);
}

function pieces(part: string, ending: '+' | ''): string[] {
  const encoded = encode(part);
  const names: string[] = [];
  for (let at = 0; at < encoded.length; at += PIECE_LENGTH) {
    const last = at + PIECE_LENGTH >= encoded.length;
    names.push(encoded.slice(at, at + PIECE_LENGTH) + (last ? ending : '~'));
  }
  return names;
}

function encode(part: string): string {
  const plain = Array.from(Buffer.from(part), (byte) => {
    const character = String.fromCharCode(byte);
    return /[a-z0-9._-]/.test(character) ? character : escape(byte);
  }).join('');
  // A leading dot would hide the file and could name the folder of incoming files. Windows drops a trailing dot.
  const dotless = plain.replace(/^\.|\.$/g, escape(0x2e));
  return RESERVED_ON_WINDOWS.test(dotless) ? escape(dotless.charCodeAt(0)) + dotless.slice(1) : dotless;
}

function escape(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}
