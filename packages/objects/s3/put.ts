import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { tooManyBytes } from '../port.ts';
import { briefly, type Store } from './client.ts';
import { isCode, isLost, isMissing, toFault } from './failures.ts';

/** The limit of S3. */
export const MAX_PARTS = 10_000;

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
  const { worker: client, bucket: Bucket, limits } = store;
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
    await new Upload({ client, params, partSize, queueSize: 1 }).done();
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    // An attempt whose answer was lost may have joined the parts, and the next one finds no upload.
    const isUnknown = isCode(error, 'NoSuchUpload') || isLost(error);
    if (!isUnknown || !(await isUploaded(store, key, Metadata.upload))) throw toFault(error);
  } finally {
    bytes.destroy();
  }
  return { sizeBytes };
}

async function isUploaded(store: Store, key: string, name: string): Promise<boolean> {
  try {
    const head = new HeadObjectCommand({ Bucket: store.bucket, Key: key });
    return (await briefly(store, (options) => store.client.send(head, options))).Metadata?.['upload'] === name;
  } catch (error) {
    if (isMissing(error)) return false;
    throw toFault(error);
  }
}
