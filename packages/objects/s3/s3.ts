import type { Readable } from 'node:stream';
import type { Logger } from '@call-analysis/runtime';
import type { SignedUrl, SignedUrls } from '../disk/signed-urls.ts';
import { keyParts, prefixParts } from '../key.ts';
import { mediaType } from '../media-type.ts';
import type { Objects } from '../port.ts';
import { Bucket } from './bucket.ts';
import { S3_LIMITS, type S3Config, type S3Limits } from './config.ts';
import { copy, type Version } from './copy.ts';
import { faulted, isMissing, toFault } from './failures.ts';
import { BROKEN_UPLOADS, expiration } from './lifecycle.ts';
import { put } from './put.ts';
import { list, open } from './read.ts';
import { Requests } from './requests.ts';
import { ensureRules, LIFECYCLE } from './rules.ts';

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
  const requests = new Requests(config, { ...S3_LIMITS, ...limits });
  const bucket = new Bucket(requests, config, log);
  await bucket.open();
  return new S3(requests, bucket);
}

class S3 implements Objects, SignedUrls {
  readonly #requests: Requests;
  readonly #bucket: Bucket;
  readonly #ahead = { bytes: 0 };

  constructor(requests: Requests, bucket: Bucket) {
    this.#requests = requests;
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
    return put(this.#requests, this.#ahead, key, bytes, options.maxBytes ?? Infinity);
  }

  async open(key: string, range?: { start: number; end?: number }): Promise<Readable> {
    keyParts(key);
    if (range && !(range.start >= 0 && (range.end ?? Infinity) >= range.start)) {
      throw new RangeError(`Not a range of bytes: ${range.start} to ${range.end}`);
    }
    return faulted(open(this.#requests, key, range));
  }

  async head(key: string): Promise<{ sizeBytes: number; modifiedAt: Date } | null> {
    keyParts(key);
    const found = await faulted(this.#find(key));
    return found && { sizeBytes: found.sizeBytes, modifiedAt: found.modifiedAt };
  }

  async copy(from: string, to: string): Promise<void> {
    keyParts(from);
    keyParts(to);
    await faulted(copy(this.#requests, (key) => this.#find(key), from, to));
  }

  async remove(key: string): Promise<void> {
    keyParts(key);
    try {
      await this.#requests.askBriefly({ method: 'DELETE', key });
    } catch (error) {
      if (!isMissing(error)) throw toFault(error);
    }
  }

  async *list(prefix: string): AsyncGenerator<{ key: string; modifiedAt: Date }> {
    prefixParts(prefix);
    try {
      yield* list(this.#requests, prefix);
    } catch (error) {
      throw toFault(error);
    }
  }

  async expire(prefix: string, afterDays: number): Promise<boolean> {
    prefixParts(prefix);
    // Both rules in one request: of two processes that set rules at the same time, one would overwrite the other's.
    return faulted(ensureRules(this.#requests, LIFECYCLE, { ...BROKEN_UPLOADS, ...expiration(prefix, afterDays) }));
  }

  async presignPut(key: string, options: { expiresInSeconds: number; maxBytes: number }): Promise<string> {
    keyParts(key);
    return this.#requests.presign('PUT', key, expiry(options.expiresInSeconds));
  }

  async presignGet(key: string, options: { expiresInSeconds: number }): Promise<string> {
    keyParts(key);
    const { type, disposition } = mediaType(key);
    // The uploader's own media type could make a browser execute the bytes.
    const query = { 'response-content-type': type, 'response-content-disposition': disposition };
    return this.#requests.presign('GET', key, expiry(options.expiresInSeconds), query);
  }

  /** The gateway serves none of its URLs. */
  verify(): SignedUrl {
    return { refused: 'not-signed' };
  }

  async #find(key: string): Promise<(Version & { modifiedAt: Date }) | null> {
    try {
      const { headers } = await this.#requests.askBriefly({ method: 'HEAD', key });
      const { etag, 'content-length': length, 'last-modified': modified } = headers;
      if (etag === undefined || length === undefined) {
        throw new Error('the object store described an object without its size or version');
      }
      return { etag, sizeBytes: Number(length), modifiedAt: new Date(modified ?? 0) };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }
}

function expiry(seconds: number): number {
  const isPossible = seconds >= 1 && seconds <= MAX_EXPIRY_SECONDS;
  if (!isPossible) throw new RangeError(`A URL cannot be valid for ${seconds} seconds.`);
  return Math.floor(seconds);
}
