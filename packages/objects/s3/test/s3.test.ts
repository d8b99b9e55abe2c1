import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { LifecycleRule } from '@aws-sdk/client-s3';
import { waitUntil } from '@call-analysis/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { adviceOn } from '../bucket.ts';
import type { S3Config, S3Limits } from '../config.ts';
import { BROKEN_UPLOADS, expiration, withRules } from '../rules.ts';
import { openS3 } from '../s3.ts';

/** A store's reaction to a request: an answer, silence, or the end of the connection. */
type Said = { status?: number; headers?: Record<string, string>; body?: string } | 'silence' | 'reset';
type Say = (request: IncomingMessage, body: Buffer) => Said | undefined;

const servers: Server[] = [];
const secretKey = 'a secret that nobody may read';
const patient: Partial<S3Limits> = {
  connectMs: 30_000,
  idleMs: 30_000,
  workMs: 30_000,
  totalMs: 45_000,
  startMs: 30_000,
  retryMs: 50,
};
const HOUR = 3_600_000;
const MiB = 1024 * 1024;
const quick: Partial<S3Limits> = { connectMs: 500, idleMs: 500, workMs: 500, totalMs: 1000, startMs: 500, retryMs: 50 };

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const EMPTY_LIST = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
const refusal = (status: number, code: string): Said => ({
  status,
  body: `<Error><Code>${code}</Code><Message>why</Message></Error>`,
});

/** A store that gives the test's answers, and otherwise succeeds. */
async function storeThat(say: Say): Promise<S3Config> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    const asked = say(request, body);
    if (asked === 'silence') return;
    if (asked === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    const isList = request.url?.includes('list-type') === true;
    const { status = 200, headers = {}, body: answer = isList ? EMPTY_LIST : '' } = asked ?? {};
    response.writeHead(status, { etag: '"e"', ...headers }).end(request.method === 'HEAD' ? undefined : answer);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return configAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

function configAt(endpoint: string): S3Config {
  const keys = { bucket: 'calls', accessKey: 'access', secretKey };
  return {
    store: 's3',
    endpoint,
    publicEndpoint: endpoint,
    ...keys,
    region: 'us-east-1',
    pathStyle: true,
    createBucket: false,
  };
}

describe('s3', () => {
  it('retries without a log line when the store is busy', async () => {
    const warn = jest.spyOn(console, 'warn');
    let tries = 0;
    const place = await storeThat(({ method, url = '' }) => {
      if (method === 'GET' || !url.startsWith('/calls/a')) return undefined;
      return ++tries > 2 ? undefined : refusal(503, 'SlowDown');
    });
    const s3 = await openS3(place, { limits: patient });
    await expect(s3.put('a', Readable.from(['bytes']))).resolves.toEqual({ sizeBytes: 5 });
    expect(tries).toBe(3);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('retries only a few times', async () => {
    let tries = 0;
    const place = await storeThat(({ method }) => {
      if (method !== 'DELETE') return undefined;
      tries += 1;
      return { status: 500, body: '<html>not S3</html>' };
    });
    const s3 = await openS3(place, { limits: patient });
    await expect(s3.remove('a')).rejects.toMatchObject({ kind: 'unavailable', code: 'UNAVAILABLE' });
    expect(tries).toBe(4);
  });

  it.each([
    [507, 'XMinioStorageFull'],
    [403, 'QuotaExceeded'],
    [507, ''],
  ])('says that the store is full when it is (%s %s), and does not insist', async (status, code) => {
    let tries = 0;
    const place = await storeThat(({ method, url = '' }) => {
      if (method !== 'PUT' || !url.startsWith('/calls/a')) return undefined;
      tries += 1;
      return code === '' ? { status } : refusal(status, code);
    });
    const s3 = await openS3(place, { limits: patient });
    await expect(s3.put('a', Readable.from(['x']))).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'INSUFFICIENT_STORAGE',
    });
    expect(tries).toBe(1);
  });

  it('reports refused keys in the log and not to the caller', async () => {
    const place = await storeThat(({ method }) => (method === 'PUT' ? refusal(403, 'AccessDenied') : undefined));
    const s3 = await openS3(place, { limits: patient });
    const fault = await s3.put('a', Readable.from(['x'])).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The object store does not answer. Try again shortly.',
      cause: { message: 'the object store refuses the access key (AccessDenied)' },
    });
  });

  it('waits no longer than its limits for a silent store', async () => {
    let isSilent = false;
    const s3 = await openS3(await storeThat(() => (isSilent ? 'silence' : undefined)), { limits: quick });
    const limits = { ...patient, connectMs: HOUR, idleMs: HOUR, workMs: HOUR, totalMs: HOUR };
    const other = await openS3(await storeThat(() => (isSilent ? 'silence' : undefined)), { limits });
    isSilent = true;
    let isGivenUp = false;
    other.head('a').catch(() => (isGivenUp = true));
    const asked = [
      s3.head('a'),
      s3.open('a'),
      s3.put('a', Readable.from(['x'])),
      s3.copy('a', 'b'),
      s3.remove('a'),
      s3.ready(),
    ];
    for (const outcome of await Promise.allSettled(asked))
      expect(outcome).toMatchObject({ reason: { code: 'UNAVAILABLE' } });
    expect(isGivenUp).toBe(false);
  });

  it('gives up a put to a silent store long before it would give up a copy', async () => {
    let isSilent = false;
    const place = await storeThat(() => (isSilent ? 'silence' : undefined));
    const s3 = await openS3(place, { limits: { ...quick, workMs: HOUR } });
    isSilent = true;
    const put = s3.put('a', Readable.from(['x']));
    await expect(put).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('does not take an answer that ends in an error for success', async () => {
    const late = '<?xml version="1.0"?>\n   <Error><Code>AccessDenied</Code></Error>';
    const place = await storeThat(({ method, headers }) => {
      if (method === 'HEAD') return { headers: { 'content-length': '5' } };
      return headers['x-amz-copy-source'] === undefined ? undefined : { body: late };
    });
    const s3 = await openS3(place, { limits: patient });
    await expect(s3.copy('a', 'b')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it.each([
    [true, 'resolves'],
    [false, 'rejects'],
  ] as const)('knows whether parts were joined (%s) when the answer was lost', async (isJoined, outcome) => {
    let name: string | undefined;
    let joins = 0;
    const place = await storeThat(({ method, url, headers }) => {
      if (url?.includes('?uploads')) {
        name = String(headers['x-amz-meta-upload']);
        return { body: '<InitiateMultipartUploadResult><UploadId>a/+b=</UploadId></InitiateMultipartUploadResult>' };
      }
      if (method === 'POST') return joins++ === 0 ? 'reset' : refusal(404, 'NoSuchUpload');
      if (method === 'HEAD')
        return { headers: { 'content-length': '1', 'x-amz-meta-upload': isJoined ? name! : 'another' } };
      return undefined;
    });
    const s3 = await openS3(place, { limits: patient });
    const putting = s3.put('a', Readable.from([Buffer.alloc(12 * MiB)]));
    if (outcome === 'resolves') await expect(putting).resolves.toEqual({ sizeBytes: 12 * MiB });
    else await expect(putting).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(joins).toBe(2);
  });

  it('sends parts with numbers and sizes that S3 accepts, in order', async () => {
    const sent = new Map<number, number>();
    let joined = '';
    const place = await storeThat(({ method, url = '' }, body) => {
      if (url.includes('?uploads')) return { body: '<R><UploadId>u</UploadId></R>' };
      if (method === 'POST') {
        joined = body.toString();
        return { body: '<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>' };
      }
      const number = new URL(url, 'http://store').searchParams.get('partNumber');
      if (number === null) return undefined;
      sent.set(Number(number), body.length);
      return { headers: { etag: `"e&${number}"` } };
    });
    const s3 = await openS3(place, { limits: patient });
    await s3.put('a', Readable.from([Buffer.alloc(8 * MiB), Buffer.alloc(9 * MiB)]));
    expect([...sent].toSorted()).toEqual([
      [1, 5 * MiB],
      [2, 5 * MiB],
      [3, 5 * MiB],
      [4, 2 * MiB],
    ]);
    expect(joined.match(/<ETag>&quot;e&amp;\d&quot;<\/ETag><PartNumber>\d<\/PartNumber>/g)).toHaveLength(4);
  });

  it('lists the keys of stores that encode them and of stores that do not', async () => {
    const page = (encoding: string, keys: string[], more: string) =>
      `<ListBucketResult>${encoding}<IsTruncated>${more !== ''}</IsTruncated>${more}` +
      keys
        .map(
          (key) =>
            `<Contents>\n <Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>7</Size></Contents>`,
        )
        .join('') +
      '</ListBucketResult>';
    const place = await storeThat(({ url = '' }) => {
      if (!url.includes('prefix=')) return undefined;
      if (url.includes('continuation-token=a%2Bb%3D'))
        return { body: page('<EncodingType>url</EncodingType>', ['f/a+b%2B%D0%B9%2541'], '') };
      const more = '<NextContinuationToken>a+b=</NextContinuationToken>';
      return { body: page('', ['f/ 007 ', 'f/a+b%41&amp;&lt;&#x439;'], more) };
    });
    const s3 = await openS3(place, { limits: patient });
    const found = await Array.fromAsync(s3.list('f/'));
    expect(found.map(({ key }) => key)).toEqual(['f/ 007 ', 'f/a+b%41&<й', 'f/a b+й%41']);
    expect(found[0]).toMatchObject({ modifiedAt: new Date('2026-01-01') });
  });

  it('reads nothing when a range begins after the end of the object', async () => {
    const place = await storeThat(({ headers }) =>
      headers.range === undefined ? undefined : refusal(416, 'InvalidRange'),
    );
    const s3 = await openS3(place, { limits: patient });
    expect(await text(await s3.open('a', { start: 5 }))).toBe('');
  });
});

describe('URLs of s3', () => {
  it('contain the public endpoint, the region and the bucket, and need no request', async () => {
    let requests = 0;
    const place = await storeThat(() => void (requests += 1));
    const far = { publicEndpoint: 'https://files.example.com', region: 'eu-central-1' };
    const s3 = await openS3({ ...place, ...far }, { limits: patient });
    requests = 0;
    const url = new URL(await s3.presignPut('UZ/f/u/Звонки 1.csv', { expiresInSeconds: 3600, maxBytes: 1 }));
    expect(url.origin).toBe('https://files.example.com');
    expect(decodeURIComponent(url.pathname)).toBe('/calls/UZ/f/u/Звонки 1.csv');
    expect(url.searchParams.get('X-Amz-Expires')).toBe('3600');
    expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('host');
    expect(url.searchParams.get('X-Amz-Credential')).toMatch(/^access\/\d{8}\/eu-central-1\/s3\/aws4_request$/);
    const hosted = await openS3({ ...place, ...far, pathStyle: false }, { limits: patient });
    requests = 0;
    expect(await hosted.presignGet('a.wav', { expiresInSeconds: 60 })).toMatch(
      /^https:\/\/calls\.files\.example\.com\/a\.wav\?/,
    );
    expect(requests).toBe(0);
    expect(s3.verify('PUT', url.pathname, url.searchParams)).toEqual({ refused: 'not-signed' });
  });
});

describe('a start with s3', () => {
  it.each([
    [403, 'InvalidAccessKeyId', 'S3_ACCESS_KEY'],
    [403, 'SignatureDoesNotMatch', 'S3_SECRET_KEY'],
    [403, 'AccessDenied', 'S3_BUCKET'],
    [404, 'NoSuchBucket', 'S3_CREATE_BUCKET'],
    [301, 'PermanentRedirect', 'S3_REGION'],
    [400, 'AuthorizationHeaderMalformed', 'S3_REGION'],
    [403, 'RequestTimeTooSkewed', 'clock'],
  ])('with the answer %s %s says what to do', async (status, code, name) => {
    const place = await storeThat(() => refusal(status, code));
    const starting = openS3(place, { limits: patient });
    await expect(starting).rejects.toMatchObject({ name: 'StartFault', message: expect.stringContaining(name) });
    await expect(starting).rejects.not.toMatchObject({ message: expect.stringContaining(secretKey) });
  });

  it.each([{ body: '<html>Welcome</html>' }, { status: 404, body: '<html>Not here</html>' }, { status: 400 }])(
    'reports that the server is not an S3 store (%j)',
    async (answer) => {
      const place = await storeThat(() => answer);
      await expect(openS3(place, { limits: patient })).rejects.toMatchObject({
        name: 'StartFault',
        message: expect.stringContaining('does not answer like an S3 store'),
      });
    },
  );

  it('reports an unknown host name', () => {
    const place = configAt('https://stor.example.com');
    const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    expect(adviceOn(unknown, place)).toBe('There is no host stor.example.com. Check S3_ENDPOINT.');
    expect(adviceOn(unknown, { ...place, pathStyle: false })).toMatch(
      /^There is no host calls\.stor\.example\.com.*S3_PATH_STYLE/,
    );
    const untrusted = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(adviceOn(untrusted, place)).toContain('NODE_EXTRA_CA_CERTS');
    expect(adviceOn(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), place)).toBeNull();
  });

  it('reports that there is no TLS', async () => {
    const { endpoint } = await storeThat(() => undefined);
    await expect(openS3(configAt(endpoint.replace('http:', 'https:')), { limits: patient })).rejects.toMatchObject({
      name: 'StartFault',
      message: expect.stringContaining('does not speak TLS'),
    });
  });

  it('continues without a store that does not answer, and is not ready until it does', async () => {
    let answers = false;
    const s3 = await openS3(await storeThat(() => (answers ? undefined : 'reset')), { limits: quick });
    await expect(s3.ready()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('object store'),
    });
    answers = true;
    await waitUntil(() => s3.ready().then(() => true));
  });
});

describe('a bucket with versioning', () => {
  it('is logged as a warning, because erased recordings stay in it', async () => {
    const place = await storeThat(({ url = '' }) =>
      url.includes('?versioning')
        ? { body: '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>' }
        : undefined,
    );
    const warnings: string[] = [];
    await openS3(place, { limits: patient, log: { info() {}, error() {}, warn: (_, line) => warnings.push(line) } });
    expect(warnings).toEqual([expect.stringContaining('erased recordings stay in it')]);
  });
});

describe('rules of the bucket', () => {
  const other: LifecycleRule = {
    ID: '0123',
    Filter: { And: { Prefix: '007', Tags: [{ Key: 'k', Value: 'v' }] } },
    Status: 'Enabled',
    Expiration: { Days: 1 },
  };
  const ours = (days: number) => [BROKEN_UPLOADS, expiration('facts/', days)];

  it('are added to other rules, which stay unchanged', () => {
    expect(withRules([other], ours(35))).toEqual([other, ...ours(35)]);
  });

  it('replace earlier versions of the same rules', () => {
    expect(withRules(withRules([other], ours(3)), ours(35))).toEqual([other, ...ours(35)]);
  });

  it('are not set again when the bucket has them, in whatever format the store returns them', async () => {
    let puts = 0;
    const kept = `<LifecycleConfiguration><Rule>
      <Filter><Prefix/></Filter>
      <ID>call-analysis-uploads</ID><Status>Enabled</Status><Priority>1</Priority>
      <AbortIncompleteMultipartUpload>\n<DaysAfterInitiation>1</DaysAfterInitiation>\n</AbortIncompleteMultipartUpload>
      </Rule></LifecycleConfiguration>`;
    const place = await storeThat(({ method, url = '' }) => {
      if (!url.includes('?lifecycle')) return undefined;
      if (method === 'PUT') puts += 1;
      return { body: kept };
    });
    await openS3(place, { limits: patient });
    expect(puts).toBe(0);
  });

  it('are set at the start, once', async () => {
    let kept = '';
    let puts = 0;
    const place = await storeThat(({ method, url = '' }, body) => {
      if (!url.includes('?lifecycle')) return undefined;
      if (method === 'GET') return kept === '' ? refusal(404, 'NoSuchLifecycleConfiguration') : { body: kept };
      kept = body.toString();
      puts += 1;
      return undefined;
    });
    await openS3(place, { limits: patient });
    const s3 = await openS3(place, { limits: patient });
    expect(puts).toBe(1);
    expect(kept).toContain('call-analysis-uploads');
    expect([await s3.expire('facts/', 38), await s3.expire('facts/', 38)]).toEqual([true, true]);
    expect(puts).toBe(2);
    expect(kept).toContain('call-analysis-uploads');
    expect(kept).toMatch(/<Days>38<\/Days>.*<Prefix>facts\/<\/Prefix>/);
  });

  it('allow the configured origins in addition to other rules, and change nothing when none is configured', async () => {
    const other =
      '<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>https://other.example</AllowedOrigin></CORSRule>';
    let kept = `<CORSConfiguration>${other}</CORSConfiguration>`;
    let puts = 0;
    const place = await storeThat(({ method, url = '' }, body) => {
      if (!url.includes('?cors')) return undefined;
      if (method === 'GET') return { body: kept };
      kept = body.toString();
      puts += 1;
      return undefined;
    });
    await openS3(place, { limits: patient });
    expect(puts).toBe(0);
    const corsOrigins = ['https://app.example', 'http://localhost:3000'];
    for (let starts = 0; starts < 2; starts += 1) await openS3({ ...place, corsOrigins }, { limits: patient });
    expect(puts).toBe(1);
    expect(kept).toContain(other);
    for (const origin of corsOrigins) expect(kept).toContain(`<AllowedOrigin>${origin}</AllowedOrigin>`);
    expect(kept).toContain('<AllowedMethod>PUT</AllowedMethod>');
  });

  it('for CORS that the store does not support are logged in one line', async () => {
    const place = await storeThat(({ url = '' }) =>
      url.includes('?cors') ? refusal(501, 'NotImplemented') : undefined,
    );
    const lines: string[] = [];
    const warn = (_: object, line: string) => void lines.push(line);
    await openS3({ ...place, corsOrigins: ['*'] }, { limits: patient, log: { info() {}, error() {}, warn } });
    expect(lines).toEqual([expect.stringContaining('allow the pages of S3_CORS_ORIGINS in its own configuration')]);
  });

  it('are logged in one line when the store has none, and parts of broken uploads are removed nevertheless', async () => {
    const removed: string[] = [];
    const upload = (key: string, at: string) =>
      `<Upload><Key>${key}</Key><UploadId>u=</UploadId><Initiated>${at}</Initiated></Upload>`;
    const place = await storeThat(({ method, url = '' }) => {
      if (url.includes('?lifecycle')) return refusal(501, 'NotImplemented');
      if (url.endsWith('?uploads=')) {
        const next =
          '<IsTruncated>true</IsTruncated><NextKeyMarker>new</NextKeyMarker><NextUploadIdMarker>u=</NextUploadIdMarker>';
        return {
          body: `<R>${upload('old key', '2020-01-01T00:00:00Z')}${upload('new', new Date().toISOString())}${next}</R>`,
        };
      }
      if (url.includes('key-marker=new') && url.includes('upload-id-marker=u%3D')) {
        return { body: `<R>${upload('old too', '2020-01-01T00:00:00Z')}<IsTruncated>false</IsTruncated></R>` };
      }
      if (method === 'DELETE') removed.push(url);
      return undefined;
    });
    const lines: string[] = [];
    const note = (_: object, line: string) => void lines.push(line);
    const s3 = await openS3(place, { limits: patient, log: { info: note, warn: note, error: note } });
    expect(lines).toEqual([expect.stringContaining('broken uploads are removed at each start')]);
    expect(removed).toEqual([
      expect.stringMatching(/^\/calls\/old%20key\?.*uploadId=u%3D/),
      expect.stringMatching(/^\/calls\/old%20too\?.*uploadId=u%3D/),
    ]);
    expect(await s3.expire('facts/', 38)).toBe(false);
  });
});
