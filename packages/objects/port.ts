import type { Readable } from 'node:stream';

/**
 * Keeps bytes under keys. Keys are Unicode, parts separated by `/`, no part empty, `.` or `..`,
 * none with a control character or a backslash, none over 255 bytes of UTF-8, all together not over 1,024 bytes;
 * any other key is Fault INVALID_KEY. Keys that differ in anything are different; but a key, and keys below it as if it were
 * a folder (`a` and `a/b`), need not both fit. A store that does not answer is Fault UNAVAILABLE, and a full one is
 * Fault INSUFFICIENT_STORAGE, of kind unavailable too.
 * A put is all or nothing: a reader sees the old bytes or the new ones, and after a crash either.
 */
export interface Objects {
  /** Resolves when bytes can be kept and given back now; else rejects with Fault UNAVAILABLE, which names the object store. */
  ready(): Promise<void>;
  /**
   * Streams to the key, replacing what was there; in the end the stream is destroyed.
   * Rejects with Fault TOO_LARGE past `maxBytes` and with the stream's own error, leaving the old bytes. When it rejects with
   * Fault UNAVAILABLE, the new bytes may be there all the same.
   */
  put(key: string, bytes: Readable, options?: { maxBytes?: number }): Promise<{ sizeBytes: number }>;
  /**
   * Streams the bytes from `start` to `end` inclusive, default all, none past the last. Fault NOT_FOUND when nothing is at
   * the key.
   */
  open(key: string, range?: { start: number; end?: number }): Promise<Readable>;
  /** Null when nothing is at the key. */
  head(key: string): Promise<{ sizeBytes: number; modifiedAt: Date } | null>;
  /** Makes `to` hold the bytes that `from` holds now; later puts to `from` do not change `to`. Fault NOT_FOUND. */
  copy(from: string, to: string): Promise<void>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  /** Keys under a prefix that ends in `/`, in no promised order. */
  list(prefix: string): AsyncIterable<{ key: string; sizeBytes: number; modifiedAt: Date }>;
  /**
   * Has the store remove by itself, from then on, what was put under the prefix so many days ago. False where it cannot: then
   * whoever puts there removes it.
   */
  expire(prefix: string, afterDays: number): Promise<boolean>;
  /**
   * A URL that lets its holder put bytes there without any other proof, for seven days at most. Absolute, or a path on the
   * gateway. Not every store can hold a client to `maxBytes`: who takes the bytes over looks at their size first.
   */
  presignPut(key: string, options: { expiresInSeconds: number; maxBytes: number }): Promise<string>;
  /** A URL that lets its holder get the bytes, with Range, for seven days at most. Absolute, or a path on the gateway. */
  presignGet(key: string, options: { expiresInSeconds: number }): Promise<string>;
}
