import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { openObjects, type S3Config } from '@call-analysis/objects';
import { openS3 } from '@call-analysis/objects/s3';
import { waitUntil } from '@call-analysis/testing';
import { s3ForTests } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, newFirm } from './test/client/new-firm.ts';
import { silence } from './test/client/silence.ts';
import { csvOf, metadataOf } from './test/client/valid-uploads.ts';
import { type ServiceProcess, startService } from './test/system/service-process.ts';

const key = `one:${randomBytes(32).toString('base64')}`;
const bucket = `encrypted-${randomBytes(6).toString('hex')}`;
const recording = new Uint8Array(silence(1));

describe('a service with a key file and an S3 store', () => {
  let service: ServiceProcess;
  let client: Client;

  beforeAll(async () => {
    const { endpoint, accessKey, secretKey } = s3ForTests();
    const s3 = { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey };
    service = await startService(undefined, { ...s3, ENCRYPTION_KEY: key });
    client = await newFirm(service);
  });
  afterAll(() => service.stop());

  it('serves presigned URLs itself, and keeps no plain object in the bucket', async () => {
    const metadata_key = await client.upload(csvOf([{ partner_call_id: 'csv' }]));
    const store = await openPlain();
    const put = await buffer(await store.open(metadata_key));
    expect(put.includes('parcel')).toBe(false);
    await client.call('POST', '/api/v1/calls/process-upload', { metadata_key });
    const sent = await client.uploadRecording<{ audio_id: string }>(
      new Blob([recording]),
      'a.wav',
      metadataOf('a.wav', { partner_call_id: 'audio' }),
    );
    expect(sent.status).toBe(200);
    await waitUntil(
      async () => (await client.call<{ count: number }>('GET', '/api/v1/calls?status=completed&size=1')).count === 2,
    );
    const { audio } = await client.call<{ audio: { url: string } }>('GET', `/api/v1/calls/${sent.body.audio_id}`);
    expect(new URL(audio.url, service.url).origin).toBe(new URL(service.url).origin);
    const part = await fetch(new URL(audio.url, service.url), { headers: { range: 'bytes=8-11' } });
    expect([part.status, await part.text()]).toEqual([206, 'WAVE']);
    for await (const object of store.list('recordings/')) {
      expect((await buffer(await store.open(object.key))).includes('WAVE')).toBe(false);
    }
  });

  async function openPlain() {
    const { endpoint, accessKey, secretKey } = s3ForTests();
    const s3: S3Config = {
      store: 's3',
      endpoint,
      publicEndpoint: endpoint,
      bucket,
      accessKey,
      secretKey,
      region: 'us-east-1',
      pathStyle: true,
      createBucket: false,
    };
    await expect(openObjects(s3)).rejects.toThrow(/no key is set/);
    // The stored bytes, undecrypted.
    return openS3(s3);
  }
});
