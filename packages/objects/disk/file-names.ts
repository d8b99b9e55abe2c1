/**
 * Keys as paths that any file system can hold apart. Letters in lower case, digits, `_`, `-` and inner dots stand for
 * themselves; every other byte of the UTF-8 form is `%xx`, so names cannot clash by case or by Unicode form.
 * A folder ends in `+`, so the keys `a` and `a/b` can both exist. An encoded part that is too long for one name
 * goes on in a folder that ends in `~`.
 */
const PIECE_LENGTH = 200;
const RESERVED_ON_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/;

export function folderPath(parts: readonly string[]): string[] {
  return parts.flatMap((part) => pieces(part, '+'));
}

export function filePath(parts: readonly string[]): string[] {
  return [...folderPath(parts.slice(0, -1)), ...pieces(parts.at(-1) ?? '', '')];
}

/** What a folder entry adds to the encoded key that was read so far. */
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
  // A leading dot would hide the file and could name our own folders; Windows drops a trailing one.
  const dotless = plain.replace(/^\.|\.$/g, escape(0x2e));
  return RESERVED_ON_WINDOWS.test(dotless) ? escape(dotless.charCodeAt(0)) + dotless.slice(1) : dotless;
}

function escape(byte: number): string {
  return `%${byte.toString(16).padStart(2, '0')}`;
}
