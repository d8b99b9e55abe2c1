import type { IncomingMessage } from 'node:http';
import { Readable, PassThrough } from 'node:stream';
import type { Logger } from '@call-analysis/runtime';
import type { SignedUrl, SignedUrls } from '../disk/signed-urls.ts';
import { mediaType } from '../media-type.ts';
import { keyParts, type Objects, prefixParts, missing, requireRange } from '../port.ts';
import { Bucket } from './bucket.ts';
import { S3_LIMITS, type S3Config, type S3Limits } from './config.ts';
import { faulted, isMissing, toFault } from './failures.ts';
import { MAX_PARTS, Multipart, refuseError } from './multipart.ts';
import { put } from './put.ts';
import { Requests, isCode, encode } from './requests.ts';
import { BROKEN_UPLOADS, ensureRules, expiration, LIFECYCLE } from './rules.ts';
import { element, elements } from './xml.ts';

const READ_BYTES = 256 * 1024;

async function open(requests: Requests, key: string, range?: { start: number; end?: number }): Promise<Readable> {
  const headers = range && { range: `bytes=${range.start}-${range.end ?? ''}` };
  let response: IncomingMessage;
  try {
    response = await requests.open({ method: 'GET', key, ...(headers && { headers }) });
  } catch (error) {
    // The range begins after the end of the object.
    if (range !== undefined && isCode(error, 'InvalidRange')) return Readable.from([]);
    throw error;
  }
  return readable(response);
}

/** Fails with a Fault when the store breaks off. Destroying it closes the connection. */
function readable(response: IncomingMessage): Readable {
  const bytes = new PassThrough({ highWaterMark: READ_BYTES });
  // It may fail before it is read; the reader gets the error later.
  bytes.on('error', () => {});
  response.once('error', (error) => bytes.destroy(toFault(error)));
  bytes.once('close', () => response.destroy());
  return response.pipe(bytes);
}

interface Listed {
  readonly key: string;
  readonly modifiedAt: Date;
}

async function* list(requests: Requests, prefix: string): AsyncGenerator<Listed> {
  for (let token: string | undefined; ;) {
    const from = token === undefined ? '' : `&continuation-token=${encode(token)}`;
    const query = `list-type=2&encoding-type=url&prefix=${encode(prefix)}${from}`;
    const { text } = await requests.ask({ method: 'GET', query });
    // Some stores ignore the requested encoding; then only XML's own encoding applies, which is already decoded.
    const decode = element(text, 'EncodingType') === 'url' ? decodeUrl : (key: string) => key;
    for (const entry of elements(text, 'Contents')) {
      const [key, modified] = ['Key', 'LastModified'].map((name) => element(entry, name));
      if (key === undefined || modified === undefined) {
        throw new Error('the object store listed an object without its key or time');
      }
      yield { key: decode(key), modifiedAt: new Date(modified) };
    }
    token = element(text, 'IsTruncated') === 'true' ? element(text, 'NextContinuationToken') : undefined;
    if (token === undefined) return;
  }
}

function decodeUrl(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '));
}

interface Version {
  readonly sizeBytes: number;
  readonly etag: string;
}

/** A source that changes this often while it is copied is under attack. */
const TRIES = 5;
/** Parts that are copied at the same time. */
const CONCURRENCY = 4;

type Find = (key: string) => Promise<Version | null>;

/** Copies one version of an object inside the store. When the source changes meanwhile, the new version is copied. */
async function copy(requests: Requests, find: Find, from: string, to: string): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const version = await find(from);
    if (version === null) throw missing();
    // S3 refuses to copy an object onto itself.
    if (from === to) return;
    try {
      await copyVersion(requests, version, from, to);
      return;
    } catch (error) {
      if (tried === TRIES || !isCode(error, 'PreconditionFailed')) throw error;
    }
  }
}

async function copyVersion(requests: Requests, { sizeBytes, etag }: Version, from: string, to: string): Promise<void> {
  const { copyBytes, workMs: idleMs } = requests.limits;
  const headers = { 'x-amz-copy-source': requests.copySource(from), 'x-amz-copy-source-if-match': etag };
  if (sizeBytes <= copyBytes) {
    refuseError((await requests.ask({ method: 'PUT', key: to, headers }, { idleMs })).text);
    return;
  }
  const stepBytes = Math.max(copyBytes, Math.ceil(sizeBytes / MAX_PARTS));
  const steps = Array.from({ length: Math.ceil(sizeBytes / stepBytes) }, (_, index) => index);
  const multipart = await Multipart.begin(requests, to);
  const stop = new AbortController();
  const copySteps = async () => {
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
      const range = `bytes=${step * stepBytes}-${Math.min((step + 1) * stepBytes, sizeBytes) - 1}`;
      const request = { headers: { ...headers, 'x-amz-copy-source-range': range } };
      await multipart.part(step + 1, request, { signal: stop.signal, idleMs });
    }
  };
  const workers = Array.from({ length: CONCURRENCY }, copySteps);
  try {
    await Promise.all(workers);
    await multipart.complete();
  } catch (error) {
    stop.abort();
    await Promise.allSettled(workers);
    await multipart.abort();
    throw error;
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
    requireRange(range);
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
