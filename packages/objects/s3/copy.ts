import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { missing } from '../port.ts';
import type { Store } from './client.ts';
import { isCode } from './failures.ts';
import { MAX_PARTS } from './put.ts';

/** What is stored under a key at some time. */
export interface Version {
  readonly sizeBytes: number;
  readonly etag: string;
}

/** A source that changes this often while it is copied is under attack. */
const TRIES = 5;
/** Parts that are copied at the same time. */
const CONCURRENCY = 4;

type Find = (key: string) => Promise<Version | null>;

/** Copies one version of an object inside the store. When the source changes meanwhile, the new version is copied. */
export async function copy(store: Store, find: Find, from: string, to: string): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const version = await find(from);
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
