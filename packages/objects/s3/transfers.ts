import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { keyParts, missing, tooManyBytes } from '../port.ts';
import { ask, type Store } from './client.ts';
import { faulted, isCode, isLost, isMissing, toFault } from './failures.ts';

/** What is stored under a key at some time. */
interface Version {
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  readonly etag: string;
  /** The name of the upload that created it. */
  readonly upload: string | undefined;
}

export async function find(store: Store, key: string): Promise<Version | null> {
  try {
    const found = await ask(store, new HeadObjectCommand({ Bucket: store.bucket, Key: key }));
    const { ETag, ContentLength, LastModified = new Date(0), Metadata } = found;
    if (ETag === undefined || ContentLength === undefined) {
      throw new Error('the object store described an object without its size or version');
    }
    return { etag: ETag, sizeBytes: ContentLength, modifiedAt: LastModified, upload: Metadata?.['upload'] };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The limit of S3. */
const MAX_PARTS = 10_000;

/**
 * Streams to a key. Bytes that fit in one part are sent in one request. More are sent in parts, of which one is kept in memory
 * until the store has it, so that it can be sent again. The object appears when they are joined.
 */
export async function put(
  store: Store,
  key: string,
  bytes: Readable,
  maxBytes: number,
): Promise<{ sizeBytes: number }> {
  const { sender: client, bucket: Bucket, limits } = store;
  let sizeBytes = 0;
  /** The error of the stream, or that it is too long. */
  let failure: { readonly error: unknown } | undefined;
  async function* counted() {
    try {
      for await (const piece of bytes as AsyncIterable<Buffer | string>) {
        sizeBytes += Buffer.byteLength(piece);
        if (sizeBytes > maxBytes) throw tooManyBytes(maxBytes);
        yield piece;
      }
    } catch (error) {
      // It is also broken off because the store has failed.
      if (!body.destroyed) failure = { error };
      throw error;
    }
  }
  const body = Readable.from(counted());
  // Metadata with the name of the upload that created the object.
  const Metadata = { upload: randomUUID() };
  const params = { Bucket, Key: key, Body: body, Metadata };
  const partSize = Math.max(limits.partBytes, Number.isFinite(maxBytes) ? Math.ceil(maxBytes / MAX_PARTS) : 0);
  try {
    keyParts(key);
    await new Upload({ client, params, partSize, queueSize: 1 }).done();
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    // An attempt whose answer was lost may have joined the parts, and the next one finds no upload.
    const isUnknown = isCode(error, 'NoSuchUpload') || isLost(error);
    if (!isUnknown || (await faulted(find(store, key)))?.upload !== Metadata.upload) throw toFault(error);
  } finally {
    bytes.destroy();
  }
  return { sizeBytes };
}

/** A source that changes this often while it is copied is under attack. */
const TRIES = 5;
/** Parts that are copied at the same time. */
const CONCURRENCY = 4;

/** Copies one version of an object inside the store. When the source changes meanwhile, the new version is copied. */
export async function copy(store: Store, from: string, to: string): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const version = await find(store, from);
    if (version === null) throw missing();
    // S3 refuses to copy an object onto itself.
    if (from === to) return;
    try {
      await copyVersion(store, version, from, to);
      return;
    } catch (error) {
      if (tried === TRIES || !isCode(error, 'PreconditionFailed')) throw error;
    }
  }
}

async function copyVersion(store: Store, { sizeBytes, etag }: Version, from: string, to: string): Promise<void> {
  const { worker, bucket, limits } = store;
  const target = { Bucket: bucket, Key: to };
  const source = { CopySource: encodeURIComponent(`${bucket}/${from}`), CopySourceIfMatch: etag };
  if (sizeBytes <= limits.copyBytes) {
    await worker.send(new CopyObjectCommand({ ...target, ...source }));
    return;
  }
  const stepBytes = Math.max(limits.copyBytes, Math.ceil(sizeBytes / MAX_PARTS));
  const numbers = Array.from({ length: Math.ceil(sizeBytes / stepBytes) }, (_, index) => index + 1);
  const etags = new Map<number, string | undefined>();
  const { UploadId } = await worker.send(new CreateMultipartUploadCommand(target));
  const stop = new AbortController();
  const copySteps = async () => {
    for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
      const CopySourceRange = `bytes=${(number - 1) * stepBytes}-${Math.min(number * stepBytes, sizeBytes) - 1}`;
      const part = { ...target, ...source, UploadId, PartNumber: number, CopySourceRange };
      const copied = await worker.send(new UploadPartCopyCommand(part), { abortSignal: stop.signal });
      etags.set(number, copied.CopyPartResult?.ETag);
    }
  };
  const workers = Array.from({ length: CONCURRENCY }, copySteps);
  try {
    await Promise.all(workers);
    const Parts = [...etags]
      .toSorted(([one], [other]) => one - other)
      .map(([PartNumber, ETag]) => ({ PartNumber, ETag }));
    await worker.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }));
  } catch (error) {
    stop.abort();
    await Promise.allSettled(workers);
    // On failure the lifecycle rule of the bucket removes the parts later.
    await worker.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => {});
    throw error;
  }
}
