import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, it } from '@jest/globals';
import { Client } from 'minio';
import { s3ForTests } from '../for-tests.ts';
import { removeBucket, tracesInBucket } from './bucket.ts';
import { type S3Server, startS3 } from './s3.ts';

const servers: S3Server[] = [];

afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

function client({ endpoint, accessKey, secretKey }: Pick<S3Server, 'endpoint' | 'accessKey' | 'secretKey'>): Client {
  const { hostname, port } = new URL(endpoint);
  return new Client({ endPoint: hostname, port: Number(port), useSSL: false, accessKey, secretKey });
}

it('each test has its own bucket, and a Unicode key finds its object', async () => {
  const place = s3ForTests();
  const s3 = client(place);
  await s3.makeBucket(place.bucket);
  expect(await s3.bucketExists(s3ForTests().bucket)).toBe(false);
  await s3.putObject(place.bucket, 'звонки/ё.wav', Buffer.from('bytes'));
  expect((await buffer(await s3.getObject(place.bucket, 'звонки/ё.wav'))).toString()).toBe('bytes');
});

it('objects with a word are found, and a bucket is removed with its objects', async () => {
  const place = s3ForTests();
  await removeBucket(place);
  const s3 = client(place);
  await s3.makeBucket(place.bucket);
  await s3.putObject(place.bucket, 'UZ/звонки/said.csv', Buffer.from('nothing'));
  await s3.putObject(place.bucket, 'frozen/a', Buffer.from('what was said'));
  await s3.putObject(place.bucket, 'frozen/b', Buffer.from('nothing'));
  expect((await tracesInBucket(place, ['said'])).toSorted()).toEqual(['UZ/звонки/said.csv: said', 'frozen/a: said']);
  await removeBucket(place);
  expect(await s3.bucketExists(place.bucket)).toBe(false);
});

it('a store keeps an object that was put by a presigned URL through SIGKILL and a restart', async () => {
  const server = await startS3();
  servers.push(server);
  const s3 = client(server);
  const bytes = randomBytes(300_000);
  await s3.makeBucket('kept');
  const url = await s3.presignedPutObject('kept', 'a/b.bin', 3600);
  expect((await fetch(url, { method: 'PUT', body: bytes })).status).toBe(200);
  await server.kill();
  await expect(fetch(server.endpoint)).rejects.toThrow();
  await server.restart();
  expect((await buffer(await s3.getObject('kept', 'a/b.bin'))).equals(bytes)).toBe(true);
  expect((await fetch(url.replace('a/b.bin', 'other'), { method: 'PUT', body: 'x' })).status).toBe(403);
});
