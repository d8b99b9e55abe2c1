import { buffer } from 'node:stream/consumers';
import { Client } from 'minio';

interface BucketPlace {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
}

/** The objects whose key or bytes contain one of the words, each as `key: word`. */
export async function tracesInBucket(place: BucketPlace, words: readonly string[]): Promise<string[]> {
  const client = clientOf(place);
  const traces: string[] = [];
  for (const key of await keysIn(client, place.bucket)) {
    // It may be removed while it is read.
    const bytes = await client.getObject(place.bucket, key).then(buffer, () => Buffer.alloc(0));
    traces.push(...words.filter((word) => key.includes(word) || bytes.includes(word)).map((word) => `${key}: ${word}`));
  }
  return traces;
}

/** Removes a bucket with its objects. Does nothing when it does not exist. */
export async function removeBucket(place: BucketPlace): Promise<void> {
  const client = clientOf(place);
  if (!(await client.bucketExists(place.bucket))) return;
  await client.removeObjects(place.bucket, await keysIn(client, place.bucket));
  await client.removeBucket(place.bucket);
}

async function keysIn(client: Client, bucket: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { name } of client.listObjectsV2(bucket, '', true)) if (name !== undefined) keys.push(name);
  return keys;
}

function clientOf({ endpoint, accessKey, secretKey }: BucketPlace): Client {
  const { hostname, port, protocol } = new URL(endpoint);
  const useSSL = protocol === 'https:';
  return new Client({ endPoint: hostname, ...(port !== '' && { port: Number(port) }), useSSL, accessKey, secretKey });
}
