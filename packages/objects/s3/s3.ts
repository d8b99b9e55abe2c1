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
import { BROKEN_UPLOADS, forgetting } from './lifecycle.ts';
import { put } from './put.ts';
import { list, open } from './read.ts';
import { Requests } from './requests.ts';
import { keepRules, LIFECYCLE } from './rules.ts';

/** Signatures of version 4 hold no longer. */
const MAX_EXPIRY_SECONDS = 7 * 24 * 3600;

export interface S3Options {
  readonly log?: Pick<Logger, 'info' | 'warn' | 'error'> | undefined;
  /** For tests, which have no time. */
  readonly limits?: Partial<S3Limits>;
}

/**
 * Objects in a bucket of an S3-compatible store, any number of processes beside each other. Signed URLs are absolute and
 * lead to the store itself. Rejects with StartFault when the configuration cannot work; a store that is away for longer
 * than a few seconds is left to `ready`.
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

  async *list(prefix: string): AsyncGenerator<{ key: string; sizeBytes: number; modifiedAt: Date }> {
    prefixParts(prefix);
    try {
      yield* list(this.#requests, prefix);
    } catch (error) {
      throw toFault(error);
    }
  }

  async expire(prefix: string, afterDays: number): Promise<boolean> {
    prefixParts(prefix);
    // Both at once: of two processes that set rules at the same time, one undoes what the other did.
    return faulted(keepRules(this.#requests, LIFECYCLE, { ...BROKEN_UPLOADS, ...forgetting(prefix, afterDays) }));
  }

  async presignPut(key: string, options: { expiresInSeconds: number; maxBytes: number }): Promise<string> {
    keyParts(key);
    return this.#requests.presign('PUT', key, expiry(options.expiresInSeconds));
  }

  async presignGet(key: string, options: { expiresInSeconds: number }): Promise<string> {
    keyParts(key);
    const { type, disposition } = mediaType(key);
    // Who put the bytes may have called them something that a browser would run.
    const query = { 'response-content-type': type, 'response-content-disposition': disposition };
    return this.#requests.presign('GET', key, expiry(options.expiresInSeconds), query);
  }

  /** None of its URLs leads to the gateway. */
  verify(): SignedUrl {
    return { refused: 'not-signed' };
  }

  async #find(key: string): Promise<(Version & { modifiedAt: Date }) | null> {
    try {
      const { headers } = await this.#requests.askBriefly({ method: 'HEAD', key });
      const { etag, 'content-length': length, 'last-modified': modified } = headers;
      if (etag === undefined || length === undefined) {
        throw new Error('the object store told of an object without its size or version');
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
  if (!isPossible) throw new RangeError(`A URL cannot hold for ${seconds} seconds.`);
  return Math.floor(seconds);
}
