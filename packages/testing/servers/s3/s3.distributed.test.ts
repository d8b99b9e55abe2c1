import { randomBytes } from 'node:crypto';
import { CreateBucketCommand, HeadBucketCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterEach, expect, it } from '@jest/globals';
import { s3ForTests } from '../for-tests.ts';
import { bytesIn, removeBucket, s3Client, tracesInBucket } from './bucket.ts';
import { type S3Server, startS3 } from './s3.ts';

const servers: S3Server[] = [];

afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function put(s3: S3Client, Bucket: string, Key: string, Body: string): Promise<void> {
  await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
}

async function bucketExists(s3: S3Client, Bucket: string): Promise<boolean> {
  return s3.send(new HeadBucketCommand({ Bucket })).then(
    () => true,
    () => false,
  );
}

it('each test has its own bucket, and a Unicode key finds its object', async () => {
  const place = s3ForTests();
  const s3 = s3Client(place);
  await s3.send(new CreateBucketCommand({ Bucket: place.bucket }));
  expect(await bucketExists(s3, s3ForTests().bucket)).toBe(false);
  await put(s3, place.bucket, 'звонки/ё.wav', 'bytes');
  expect((await bytesIn(s3, place.bucket, 'звонки/ё.wav')).toString()).toBe('bytes');
});

it('objects with a word are found, and a bucket is removed with its objects', async () => {
  const place = s3ForTests();
  await removeBucket(place);
  const s3 = s3Client(place);
  await s3.send(new CreateBucketCommand({ Bucket: place.bucket }));
  await put(s3, place.bucket, 'UZ/звонки/said.csv', 'nothing');
  await put(s3, place.bucket, 'frozen/a', 'what was said');
  await put(s3, place.bucket, 'frozen/b', 'nothing');
  expect((await tracesInBucket(place, ['said'])).toSorted()).toEqual(['UZ/звонки/said.csv: said', 'frozen/a: said']);
  await removeBucket(place);
  expect(await bucketExists(s3, place.bucket)).toBe(false);
});

it('a store keeps an object that was put by a presigned URL through SIGKILL and a restart', async () => {
  const server = await startS3();
  servers.push(server);
  const s3 = s3Client(server);
  const bytes = randomBytes(300_000);
  await s3.send(new CreateBucketCommand({ Bucket: 'kept' }));
  const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket: 'kept', Key: 'a/b.bin' }));
  expect((await fetch(url, { method: 'PUT', body: bytes })).status).toBe(200);
  await server.kill();
  await expect(fetch(server.endpoint)).rejects.toThrow();
  await server.restart();
  expect((await bytesIn(s3, 'kept', 'a/b.bin')).equals(bytes)).toBe(true);
  expect((await fetch(url.replace('a/b.bin', 'other'), { method: 'PUT', body: 'x' })).status).toBe(403);
});
