import { randomBytes } from 'node:crypto';
import dns from 'node:dns';
import { text } from 'node:stream/consumers';
import { type S3Server, startS3 } from '@call-analysis/testing/servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { objectsContract } from '../../contract/contract.ts';
import type { S3Config } from '../config.ts';
import { openS3 } from '../s3.ts';

const region = 'eu-central-1';
const domain = 's3.localhost';
const { lookup } = dns;

let server: S3Server;

/** Not every system resolves names below localhost to this machine. */
function lookupHere(host: string, ...rest: unknown[]): void {
  Reflect.apply(lookup, dns, [host.endsWith(`.${domain}`) || host === domain ? '127.0.0.1' : host, ...rest]);
}

beforeAll(async () => {
  dns.lookup = lookupHere as typeof dns.lookup;
  server = await startS3({}, { region, domain });
}, 300_000);
afterAll(async () => {
  dns.lookup = lookup;
  await server?.stop();
});

function config(changed: Partial<S3Config> = {}): S3Config {
  const { accessKey, secretKey } = server;
  const endpoint = `http://${domain}:${new URL(server.endpoint).port}`;
  const bucket = `test-${randomBytes(8).toString('hex')}`;
  return {
    store: 's3',
    endpoint,
    publicEndpoint: endpoint,
    bucket,
    accessKey,
    secretKey,
    region,
    pathStyle: false,
    createBucket: true,
    ...changed,
  };
}

objectsContract('s3 in another region, with the bucket in the path', async () => ({
  objects: await openS3(config({ pathStyle: true })),
  close: async () => {},
}));

objectsContract('s3 in another region, with the bucket in the name of the host', async () => ({
  objects: await openS3(config()),
  close: async () => {},
}));

describe('s3 with the bucket in the host name', () => {
  it('signs working URLs with the bucket in the host name', async () => {
    const place = config();
    const s3 = await openS3(place);
    const url = await s3.presignPut('UZ/a/Звонки (1) +100%.wav', { expiresInSeconds: 60, maxBytes: 10 });
    expect(new URL(url).host).toBe(`${place.bucket}.${new URL(place.endpoint).host}`);
    expect((await fetch(url, { method: 'PUT', body: '0123456789' })).status).toBe(200);
    const got = await fetch(await s3.presignGet('UZ/a/Звонки (1) +100%.wav', { expiresInSeconds: 60 }));
    expect([got.status, await got.text()]).toEqual([200, '0123456789']);
    expect(await text(await s3.open('UZ/a/Звонки (1) +100%.wav'))).toBe('0123456789');
  });

  it('names the region of the bucket when another was configured', async () => {
    const start = openS3(config({ region: 'us-east-1' }));
    await expect(start).rejects.toMatchObject({
      name: 'StartFault',
      message: expect.stringContaining(`Set S3_REGION to ${region}.`),
    });
  });
});

describe('pages in a browser', () => {
  const origin = 'https://app.example.com';
  const preflight = (url: string, from: string) =>
    fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin: from,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type',
      },
    });

  it('of the configured origins may put to a presigned URL, and others may not', async () => {
    const s3 = await openS3(config({ corsOrigins: [origin] }));
    const url = await s3.presignPut('from/a/page', { expiresInSeconds: 60, maxBytes: 10 });
    const asked = await preflight(url, origin);
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect(asked.headers.get('access-control-allow-methods')).toContain('PUT');
    const put = await fetch(url, { method: 'PUT', body: 'x', headers: { origin, 'content-type': 'audio/wav' } });
    expect([put.status, put.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect((await preflight(url, 'https://evil.example.com')).headers.get('access-control-allow-origin')).toBeNull();
  });
});
