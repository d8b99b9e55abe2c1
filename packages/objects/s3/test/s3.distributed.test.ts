import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { encryptionKeysFrom } from '@call-analysis/encryption';
import { openTcpProxy, type TcpProxy, waitUntil } from '@call-analysis/testing';
import { s3ForTests } from '@call-analysis/testing/servers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Client } from 'minio';
import { objectsContract } from '../../contract/contract.ts';
import { objectsMemory } from '../../contract/memory.ts';
import { openObjects } from '../../open.ts';
import type { S3Config, S3Limits } from '../config.ts';
import { openS3 } from '../s3.ts';

const MiB = 1024 * 1024;
const unavailable = { kind: 'unavailable', code: 'UNAVAILABLE', message: expect.stringContaining('The object store') };

function config(changed: Partial<S3Config> = {}): S3Config {
  const { endpoint, accessKey, secretKey, bucket } = s3ForTests();
  const rest = { region: 'us-east-1', pathStyle: true, createBucket: true };
  return { store: 's3', endpoint, publicEndpoint: endpoint, bucket, accessKey, secretKey, ...rest, ...changed };
}

function clientOf({ endpoint, accessKey, secretKey }: S3Config): Client {
  const { hostname, port, protocol } = new URL(endpoint);
  return new Client({ endPoint: hostname, port: Number(port), useSSL: protocol === 'https:', accessKey, secretKey });
}

function targetOf({ endpoint }: S3Config): { host: string; port: number } {
  const { hostname: host, port } = new URL(endpoint);
  return { host, port: Number(port) };
}

const pieces = (bytes: Buffer, size = 64 * 1024) =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })(),
  );

objectsContract('s3', async () => ({ objects: await openS3(config()), close: async () => {} }));
objectsMemory('s3', async () => ({ config: config(), close: async () => {} }));

// Larger puts and copies are done in parts.
const inParts = { partBytes: 5 * MiB, copyBytes: 5 * MiB };
objectsMemory('s3 in parts', async () => ({ config: config(), limits: inParts, close: async () => {} }));
objectsContract('s3 in parts', async () => {
  return { objects: await openS3(config(), { limits: inParts }), close: async () => {} };
});

// Puts of several parts and ranged reads of encrypted bytes.
const encrypted = () => config({ bucket: `encrypted-${randomBytes(6).toString('hex')}` });
const encryptionKey = `test:${randomBytes(32).toString('base64')}`;
objectsContract('encrypted s3', async () => {
  const encryption = encryptionKeysFrom({ ENCRYPTION_KEY: encryptionKey })!;
  return { objects: await openObjects({ ...encrypted(), encryption }), close: async () => {} };
});
objectsMemory('encrypted s3', async () => ({ config: encrypted(), encryptionKey, close: async () => {} }));

describe('s3 in parts', () => {
  const broken: Record<string, () => Readable> = {
    fails: () =>
      Readable.from(
        (async function* () {
          for (let sent = 0; sent < 12; sent += 1) yield randomBytes(MiB);
          throw new Error('the client went away');
        })(),
      ),
    'is destroyed': () => {
      const stream = Readable.from(
        (async function* () {
          for (let sent = 0; ; sent += 1) {
            if (sent === 12) setImmediate(() => stream.destroy());
            if (sent > 12) await delay(5);
            yield randomBytes(MiB);
          }
        })(),
      );
      return stream;
    },
    'is too long': () => pieces(randomBytes(17 * MiB)),
  };

  it.each(Object.keys(broken))('leaves the old bytes and no parts when the stream %s', async (how) => {
    const place = config();
    const s3 = await openS3(place);
    await s3.put('a/key', Readable.from(['old']));
    await expect(s3.put('a/key', broken[how]!(), { maxBytes: 16 * MiB })).rejects.toThrow();
    expect(await text(await s3.open('a/key'))).toBe('old');
    expect(await clientOf(place).listIncompleteUploads(place.bucket, '', true).toArray()).toEqual([]);
  });

  it('stores the complete bytes of one of several concurrent puts', async () => {
    const s3 = await openS3(config());
    const versions = [1, 2, 3].map((letter) => Buffer.alloc(11 * MiB, letter));
    await Promise.all(versions.map((version) => s3.put('one key', pieces(version))));
    const kept = await buffer(await s3.open('one key'));
    expect(versions.some((version) => version.equals(kept))).toBe(true);
  });

  it('copies an object in parts when it is too large for one request, whatever its key is', async () => {
    const s3 = await openS3(config(), { limits: { copyBytes: 5 * MiB } });
    const bytes = randomBytes(12 * MiB + 1);
    const from = 'звонки/a?b#c%41 +й.zip';
    await s3.put(from, pieces(bytes));
    await s3.copy(from, 'the/copy');
    expect((await buffer(await s3.open('the/copy'))).equals(bytes)).toBe(true);
  });

  it.each([20 * MiB, 5 * MiB])(
    'copies one version while others are put, with at most %s bytes per request',
    async (copyBytes) => {
      const s3 = await openS3(config(), { limits: { copyBytes } });
      const versions = [1, 2].map((letter) => Buffer.alloc(11 * MiB, letter));
      const source = () => pieces(versions[Math.round(Math.random())]!);
      await s3.put('source', source());
      const done = new AbortController();
      const putting = (async () => {
        for (; !done.signal.aborted; await delay(50)) await s3.put('source', source());
      })();
      for (let copied = 0; copied < 5; copied += 1) {
        await s3.copy('source', `copy/${copied}`).catch((error: unknown) => expect(error).toMatchObject(unavailable));
        if ((await s3.head(`copy/${copied}`)) === null) continue;
        const bytes = await buffer(await s3.open(`copy/${copied}`));
        expect(versions.some((version) => version.equals(bytes))).toBe(true);
      }
      done.abort();
      await putting;
    },
  );
});

describe('URLs of s3', () => {
  it('let a client without keys put and get, at the public address', async () => {
    const place = config();
    const proxy = await openTcpProxy(targetOf(place));
    proxys.push(proxy);
    const publicEndpoint = `http://localhost:${proxy.port}`;
    const s3 = await openS3({ ...place, publicEndpoint });
    const key = 'UZ/firm/user/Звонки (1) +100%.wav';
    const putUrl = await s3.presignPut(key, { expiresInSeconds: 3600, maxBytes: 10 });
    expect(putUrl.startsWith(`${publicEndpoint}/`)).toBe(true);
    const put = await fetch(putUrl, { method: 'PUT', body: '0123456789', headers: { 'content-type': 'text/html' } });
    expect(put.status).toBe(200);
    expect(await text(await s3.open(key))).toBe('0123456789');

    const getUrl = await s3.presignGet(key, { expiresInSeconds: 7 * 24 * 3600 });
    const got = await fetch(getUrl, { headers: { range: 'bytes=2-4' } });
    expect([got.status, got.headers.get('content-range'), await got.text()]).toEqual([206, 'bytes 2-4/10', '234']);
    expect(got.headers.get('content-type')).toBe('audio/wav');
    expect(got.headers.get('content-disposition')).toMatch(/^inline; filename\*=UTF-8''/);
  });

  it('allow only what they were signed for', async () => {
    const s3 = await openS3(config());
    await s3.put('a', Readable.from(['bytes']));
    const url = await s3.presignGet('a', { expiresInSeconds: 3600 });
    expect((await fetch(url, { method: 'PUT', body: 'x' })).status).toBe(403);
    expect((await fetch(url.replace('/a?', '/b?'))).status).toBe(403);
    expect((await fetch(url)).status).toBe(200);
    const brief = await s3.presignGet('a', { expiresInSeconds: 1 });
    await waitUntil(async () => (await fetch(brief)).status === 403);
    await expect(s3.presignGet('a', { expiresInSeconds: 7 * 24 * 3600 + 1 })).rejects.toThrow(RangeError);
  });
});

const proxys: TcpProxy[] = [];
const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  await Promise.all(proxys.splice(0).map((proxy) => proxy.close()));
  for (const server of servers.splice(0)) server.close();
  for (const socket of sockets.splice(0)) socket.destroy();
});

describe('s3 over a bad network', () => {
  /** Short limits for a store that does not answer. Other checks are repeated or use longer limits. */
  const hasty: Partial<S3Limits> = {
    connectMs: 2000,
    idleMs: 2500,
    workMs: 2500,
    totalMs: 4000,
    startMs: 2500,
    retryMs: 100,
  };

  /** A store behind a proxy, and the same store without the proxy and with long limits. */
  async function proxyd(limits: Partial<S3Limits> = hasty) {
    const place = config();
    const past = await openS3(place);
    const proxy = await openTcpProxy(targetOf(place));
    proxys.push(proxy);
    return { proxy, past, s3: await openS3({ ...place, endpoint: `http://127.0.0.1:${proxy.port}` }, { limits }) };
  }

  it.each(['cut', 'blackhole'] as const)(
    'reports in time that the store does not answer (%s), and works again when it does',
    async (how) => {
      const { proxy, s3, past } = await proxyd();
      await past.put('a', Readable.from(['bytes']));
      proxy[how]();
      const each = [
        s3.ready(),
        s3.head('a'),
        s3.open('a'),
        // Not under the first key: bytes that were sent before may still arrive.
        s3.put('d', Readable.from(['other'])),
        s3.put('d', pieces(randomBytes(12 * MiB))),
        s3.copy('a', 'b'),
        s3.remove('c'),
        Array.fromAsync(s3.list('folder/')),
      ];
      for (const outcome of await Promise.allSettled(each))
        expect(outcome).toMatchObject({ status: 'rejected', reason: unavailable });
      proxy.heal();
      await waitUntil(() => s3.ready().then(() => true));
      await waitUntil(() => s3.put('a', Readable.from(['new'])));
      expect(await waitUntil(async () => text(await s3.open('a')))).toBe('new');
    },
  );

  it('survives a short outage of the store', async () => {
    const { proxy, s3 } = await proxyd({});
    await s3.put('a', Readable.from(['bytes']));
    proxy.cut();
    const reading = s3.open('a').then(text);
    const putting = s3.put('b', pieces(randomBytes(6 * MiB)));
    await delay(150);
    proxy.heal();
    expect(await reading).toBe('bytes');
    await expect(putting).resolves.toEqual({ sizeBytes: 6 * MiB });
  });

  it.each(['cut', 'blackhole'] as const)('fails a read that the store breaks off (%s) with a Fault', async (how) => {
    const { proxy, s3, past } = await proxyd();
    await past.put('a', pieces(randomBytes(30 * MiB)));
    const stream = await waitUntil(() => s3.open('a'));
    const reading = (async () => {
      for await (const _ of stream) if (how in proxy) proxy[how]();
    })();
    await expect(reading).rejects.toMatchObject(unavailable);
  });

  it('does not take a slow reader or a slow writer for a silent store', async () => {
    const { s3 } = await proxyd({ idleMs: 2000 });
    const bytes = randomBytes(12 * MiB);
    const slow = () =>
      Readable.from(
        (async function* () {
          yield bytes.subarray(0, 6 * MiB);
          await delay(3000);
          yield bytes.subarray(6 * MiB);
        })(),
      );
    const slowlyRead = async () => {
      const got: Buffer[] = [];
      for await (const piece of await s3.open('a')) {
        if (got.length === 2) await delay(3000);
        got.push(piece as Buffer);
      }
      return Buffer.concat(got);
    };
    await s3.put('a', Readable.from([bytes]));
    // A paused machine makes the store silent once, and not each time.
    const [read] = await Promise.all([waitUntil(slowlyRead), waitUntil(() => s3.put('b', slow()))]);
    expect(read.equals(bytes)).toBe(true);
    expect((await buffer(await s3.open('b'))).equals(bytes)).toBe(true);
  });

  it('closes the connection when reading stops early', async () => {
    const place = config();
    let open = 0;
    const server = createServer((near) => {
      open += 1;
      const far = connect(targetOf(place));
      sockets.push(near);
      near.on('error', () => {}).on('close', () => far.destroy());
      far.on('error', () => {}).on('close', () => near.destroy());
      far.on('close', () => (open -= 1));
      near.pipe(far).pipe(near);
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const s3 = await openS3({ ...place, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    await s3.put('a', pieces(randomBytes(8 * MiB)));
    const before = open;
    const streams = await Promise.all(Array.from({ length: 10 }, () => s3.open('a')));
    expect(open).toBeGreaterThan(before);
    for (const stream of streams) stream.destroy();
    await waitUntil(() => open <= before);
  });

  it('starts without the store when it does not answer, and creates the bucket when it does', async () => {
    const place = config();
    const proxy = await openTcpProxy(targetOf(place));
    proxys.push(proxy);
    proxy.blackhole();
    const lines: string[] = [];
    const note = (_: object, line: string) => void lines.push(line);
    const s3 = await openS3(
      { ...place, endpoint: `http://127.0.0.1:${proxy.port}` },
      { limits: hasty, log: { info: note, warn: note, error: note } },
    );
    expect(lines).toEqual(['the object store does not answer yet; the start continues without it']);
    await expect(s3.ready()).rejects.toMatchObject(unavailable);
    proxy.heal();
    await waitUntil(() => lines.includes('the object store answers'));
    await waitUntil(() => s3.ready().then(() => true));
    await waitUntil(() => s3.put('a', Readable.from(['bytes'])));
  });
});

describe('a start with s3', () => {
  it('names the wrong key without showing it', async () => {
    const start = openS3(config({ secretKey: 'not the secret key' }));
    await expect(start).rejects.toMatchObject({
      name: 'StartFault',
      message: expect.stringContaining('S3_SECRET_KEY'),
    });
    await expect(start).rejects.not.toMatchObject({ message: expect.stringContaining('not the secret key') });
    await expect(openS3(config({ accessKey: 'nobody' }))).rejects.toMatchObject({
      message: expect.stringContaining('S3_ACCESS_KEY'),
    });
  });

  it('does not create a bucket unless configured to', async () => {
    const place = config({ createBucket: false });
    await expect(openS3(place)).rejects.toMatchObject({
      name: 'StartFault',
      message: `The object store at ${place.endpoint} has no bucket "${place.bucket}". Create it, or set S3_CREATE_BUCKET to on, or check S3_BUCKET.`,
    });
    await clientOf(place).makeBucket(place.bucket);
    await expect(openS3(place)).resolves.toBeDefined();
  });

  it('of several concurrent processes creates one bucket for all', async () => {
    const place = config();
    const all = await Promise.all(Array.from({ length: 6 }, () => openS3(place)));
    for (const s3 of all) await waitUntil(() => s3.ready().then(() => true));
  });
});
