import { buffer } from 'node:stream/consumers';
import {
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';

interface BucketPlace {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
}

/** A client of a store on this machine, for tests that look at it past the service. */
export function s3Client({ endpoint, accessKey, secretKey }: Omit<BucketPlace, 'bucket'>): S3Client {
  return new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  });
}

/** The bytes of an object. */
export async function bytesIn(client: S3Client, Bucket: string, Key: string): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return buffer(Body as AsyncIterable<Buffer> & NodeJS.ReadableStream);
}

/** The objects whose key or bytes contain one of the words, each as `key: word`. */
export async function tracesInBucket(place: BucketPlace, words: readonly string[]): Promise<string[]> {
  const client = s3Client(place);
  const traces: string[] = [];
  for (const key of await keysIn(client, place.bucket)) {
    // It may be removed while it is read.
    const bytes = await bytesIn(client, place.bucket, key).catch(() => Buffer.alloc(0));
    traces.push(...words.filter((word) => key.includes(word) || bytes.includes(word)).map((word) => `${key}: ${word}`));
  }
  return traces;
}

/** Removes a bucket with its objects. Does nothing when it does not exist. */
export async function removeBucket(place: BucketPlace): Promise<void> {
  const client = s3Client(place);
  const { bucket: Bucket } = place;
  try {
    for (const Key of await keysIn(client, Bucket)) await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await client.send(new DeleteBucketCommand({ Bucket }));
  } catch (error) {
    if ((error as Error).name !== 'NoSuchBucket') throw error;
  }
}

async function keysIn(client: S3Client, Bucket: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket }))
    for (const { Key } of Contents) if (Key !== undefined) keys.push(Key);
  return keys;
}
