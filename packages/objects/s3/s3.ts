import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { Logger } from '@call-analysis/runtime';
import type { SignedUrl, SignedUrls } from '../disk/signed-urls.ts';
import { mediaType } from '../media-type.ts';
import { keyParts, type Objects, prefixParts, requireRange } from '../port.ts';
import { Bucket } from './bucket.ts';
import { briefly, connect, type Store } from './client.ts';
import { S3_LIMITS, type S3Config, type S3Limits } from './config.ts';
import { copy, type Version } from './copy.ts';
import { faulted, isCode, isMissing, TimeOut, toFault } from './failures.ts';
import { put } from './put.ts';
import { BROKEN_UPLOADS, ensureLifecycle, expiration } from './rules.ts';

const READ_BYTES = 256 * 1024;

/**
 * Fails with a Fault when the store breaks off, or is silent for `idleMs` while the reader waits. Destroying it closes the
 * connection.
 */
function readable(response: IncomingMessage, idleMs: number): Readable {
  const bytes = new PassThrough({ highWaterMark: READ_BYTES });
  // It may fail before it is read; the reader gets the error later.
  bytes.on('error', () => {});
  const { socket } = response;
  const onSilence = () => {
    if (response.readableLength === 0) response.destroy(new TimeOut(`was silent for ${idleMs} ms`));
    // The reader is slow, not the store.
    else socket.setTimeout(idleMs);
  };
  socket.setTimeout(idleMs).on('timeout', onSilence);
  response.once('close', () => socket.off('timeout', onSilence));
  response.once('error', (error) => bytes.destroy(toFault(error)));
  bytes.once('close', () => response.destroy());
  return response.pipe(bytes);
}

async function* list({ client, bucket }: Store, prefix: string): AsyncGenerator<{ key: string; modifiedAt: Date }> {
  const request = { Bucket: bucket, Prefix: prefix, EncodingType: 'url' } as const;
  for await (const { Contents = [], EncodingType } of paginateListObjectsV2({ client }, request)) {
    for (const { Key, LastModified } of Contents) {
      if (Key === undefined || LastModified === undefined) {
        throw new Error('the object store listed an object without its key or time');
      }
      // Some stores ignore the requested encoding.
      const key = EncodingType === 'url' ? decodeURIComponent(Key.replaceAll('+', ' ')) : Key;
      yield { key, modifiedAt: LastModified };
    }
  }
}

/** The limit of Signature Version 4. */
const MAX_EXPIRY_SECONDS = 7 * 24 * 3600;

interface S3Options {
  readonly log?: Pick<Logger, 'info' | 'warn' | 'error'> | undefined;
  /** For tests, which use shorter limits. */
  readonly limits?: Partial<S3Limits>;
}

/**
 * Objects in a bucket of an S3-compatible store, which any number of processes may share. Presigned URLs are absolute URLs
 * of the store. Rejects with StartFault when the configuration cannot work. A store that does not answer within a few
 * seconds is reported by `ready`.
 */
export async function openS3(config: S3Config, { log, limits }: S3Options = {}): Promise<Objects & SignedUrls> {
  const store = connect(config, { ...S3_LIMITS, ...limits });
  const bucket = new Bucket(store, config, log);
  await bucket.open();
  return new S3(store, bucket);
}

class S3 implements Objects, SignedUrls {
  readonly #store: Store;
  readonly #bucket: Bucket;

  constructor(store: Store, bucket: Bucket) {
    this.#store = store;
    this.#bucket = bucket;
  }

  ready(): Promise<void> {
    return this.#bucket.ready();
  }

  async put(key: string, bytes: Readable, options: { maxBytes?: number } = {}): Promise<{ sizeBytes: number }> {
    try {
      keyParts(key);
    } catch (error) {
      bytes.destroy();
      throw error;
    }
    return put(this.#store, key, bytes, options.maxBytes ?? Infinity);
  }

  async open(key: string, range?: { start: number; end?: number }): Promise<Readable> {
    requireRange(range);
    const Range = range && `bytes=${range.start}-${range.end ?? ''}`;
    const { client, limits } = this.#store;
    try {
      const { Body } = await client.send(new GetObjectCommand({ ...this.#at(key), Range }));
      return readable(Body as IncomingMessage, limits.idleMs);
    } catch (error) {
      // The range begins after the end of the object.
      if (range !== undefined && isCode(error, 'InvalidRange')) return Readable.from([]);
      throw toFault(error);
    }
  }

  async head(key: string): Promise<{ sizeBytes: number; modifiedAt: Date } | null> {
    const found = await faulted(this.#find(key));
    return found && { sizeBytes: found.sizeBytes, modifiedAt: found.modifiedAt };
  }

  async copy(from: string, to: string): Promise<void> {
    keyParts(from);
    keyParts(to);
    await faulted(copy(this.#store, (key) => this.#find(key), from, to));
  }

  async remove(key: string): Promise<void> {
    const remove = new DeleteObjectCommand(this.#at(key));
    try {
      await briefly(this.#store, (options) => this.#store.client.send(remove, options));
    } catch (error) {
      if (!isMissing(error)) throw toFault(error);
    }
  }

  async *list(prefix: string): AsyncGenerator<{ key: string; modifiedAt: Date }> {
    prefixParts(prefix);
    try {
      yield* list(this.#store, prefix);
    } catch (error) {
      throw toFault(error);
    }
  }

  async expire(prefix: string, afterDays: number): Promise<boolean> {
    prefixParts(prefix);
    // Both rules in one request: of two processes that set rules at the same time, one would overwrite the other's.
    return faulted(ensureLifecycle(this.#store, [BROKEN_UPLOADS, expiration(prefix, afterDays)]));
  }

  async presignPut(key: string, options: { expiresInSeconds: number; maxBytes: number }): Promise<string> {
    const command = new PutObjectCommand(this.#at(key));
    return getSignedUrl(this.#store.signer, command, { expiresIn: expiry(options.expiresInSeconds) });
  }

  async presignGet(key: string, options: { expiresInSeconds: number }): Promise<string> {
    const at = this.#at(key);
    const { type, disposition } = mediaType(key);
    // The uploader's own media type could make a browser execute the bytes.
    const command = new GetObjectCommand({
      ...at,
      ResponseContentType: type,
      ResponseContentDisposition: disposition,
    });
    return getSignedUrl(this.#store.signer, command, { expiresIn: expiry(options.expiresInSeconds) });
  }

  /** The gateway serves none of its URLs. */
  verify(): SignedUrl {
    return { refused: 'not-signed' };
  }

  async #find(key: string): Promise<(Version & { modifiedAt: Date }) | null> {
    const head = new HeadObjectCommand(this.#at(key));
    try {
      const {
        ETag,
        ContentLength,
        LastModified = new Date(0),
      } = await briefly(this.#store, (options) => this.#store.client.send(head, options));
      if (ETag === undefined || ContentLength === undefined) {
        throw new Error('the object store described an object without its size or version');
      }
      return { etag: ETag, sizeBytes: ContentLength, modifiedAt: LastModified };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Where a valid key is. Fault INVALID_KEY for any other. */
  #at(key: string): { Bucket: string; Key: string } {
    keyParts(key);
    return { Bucket: this.#store.bucket, Key: key };
  }
}

function expiry(seconds: number): number {
  const isPossible = seconds >= 1 && seconds <= MAX_EXPIRY_SECONDS;
  if (!isPossible) throw new RangeError(`A URL cannot be valid for ${seconds} seconds.`);
  return Math.floor(seconds);
}
