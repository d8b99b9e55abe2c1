import type { Readable } from 'node:stream';
import { Fault } from '@call-analysis/fault';

/**
 * Stores bytes under keys. A key is Unicode text of parts separated by `/`. No part is empty, `.` or `..`, contains a
 * control character or a backslash, or has more than 255 bytes of UTF-8. A key has at most 1,024 bytes. Any other key is
 * Fault INVALID_KEY. Keys are compared exactly, but a store need not accept both a key and keys below it, as in a folder
 * (`a` and `a/b`). A store that does not answer is Fault UNAVAILABLE. A full store is Fault INSUFFICIENT_STORAGE, also of
 * kind unavailable.
 * A put is atomic: a reader sees either the old or the new bytes, also after a crash.
 */
export interface Objects {
  /** Resolves when the store can be used, else rejects with a Fault UNAVAILABLE that names the object store. */
  ready(): Promise<void>;
  /**
   * Streams to the key and replaces its bytes. The stream is destroyed at the end. Rejects with Fault TOO_LARGE beyond
   * `maxBytes` and with the stream's own error, and then keeps the old bytes. When it rejects with Fault UNAVAILABLE, the
   * new bytes may have been stored.
   */
  put(key: string, bytes: Readable, options?: { maxBytes?: number }): Promise<{ sizeBytes: number }>;
  /**
   * Streams the bytes from `start` to `end` inclusive, by default all. A range is cut at the end of the object. Fault
   * NOT_FOUND when there is no object.
   */
  open(key: string, range?: { start: number; end?: number }): Promise<Readable>;
  /** Null when there is no object. */
  head(key: string): Promise<{ sizeBytes: number; modifiedAt: Date } | null>;
  /** Copies the current bytes of `from` to `to`. Later puts to `from` do not change `to`. Fault NOT_FOUND. */
  copy(from: string, to: string): Promise<void>;
  /** Does nothing when there is no object. */
  remove(key: string): Promise<void>;
  /** The objects under a prefix that ends in `/`, in any order. */
  list(prefix: string): AsyncIterable<{ key: string; modifiedAt: Date }>;
  /**
   * Makes the store remove objects under the prefix by itself, this many days after their put. Returns false when the store
   * cannot: then the caller removes them.
   */
  expire(prefix: string, afterDays: number): Promise<boolean>;
  /**
   * A presigned URL that allows a put without other credentials, for at most seven days. Absolute, or a path on the
   * gateway. Not every store enforces `maxBytes`, so check the size before using the bytes.
   */
  presignPut(key: string, options: { expiresInSeconds: number; maxBytes: number }): Promise<string>;
  /** A presigned URL that allows a get, with Range, for at most seven days. Absolute, or a path on the gateway. */
  presignGet(key: string, options: { expiresInSeconds: number }): Promise<string>;
}

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

/** Throws for a range that begins before the first byte or ends before it begins. */
export function requireRange(range: { start: number; end?: number } | undefined): void {
  if (range === undefined || (range.start >= 0 && (range.end ?? Infinity) >= range.start)) return;
  throw new RangeError(`Not a range of bytes: ${range.start} to ${range.end}`);
}

export function missing(): Fault {
  return new Fault('not-found', 'NOT_FOUND', 'Nothing is stored under this key.');
}

export function tooManyBytes(maxBytes: number): Fault {
  return new Fault('too-large', 'TOO_LARGE', `More than ${maxBytes} bytes were sent.`);
}

function invalidKey(why: string): Fault {
  return new Fault('invalid', 'INVALID_KEY', `The storage key ${why}.`);
}
