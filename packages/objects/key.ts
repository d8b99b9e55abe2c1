import { Fault } from '@call-analysis/fault';

const MAX_PART_BYTES = 255;
/** The limit of S3. It also keeps a path on disk below the 4,096 bytes that Linux allows. */
const MAX_KEY_BYTES = 1024;

/** The parts of a valid key. Fault INVALID_KEY for any other. */
export function keyParts(key: string): string[] {
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw invalidKey(`is over ${MAX_KEY_BYTES} bytes`);
  // A lone surrogate has no UTF-8 form, so two different keys would share one file.
  if (!key.isWellFormed()) throw invalidKey('is not well-formed Unicode');
  if (/[\p{Cc}\\]/u.test(key)) throw invalidKey('holds a control character or a backslash');
  const parts = key.split('/');
  for (const part of parts) {
    if (part === '' || part === '.' || part === '..') throw invalidKey('has an empty part, `.` or `..`');
    if (Buffer.byteLength(part) > MAX_PART_BYTES) throw invalidKey(`has a part over ${MAX_PART_BYTES} bytes`);
  }
  return parts;
}

/** The parts of a prefix that ends in `/`. */
export function prefixParts(prefix: string): string[] {
  if (!prefix.endsWith('/')) throw invalidKey('prefix does not end in `/`');
  return keyParts(prefix.slice(0, -1));
}

function invalidKey(why: string): Fault {
  return new Fault('invalid', 'INVALID_KEY', `The storage key ${why}.`);
}
