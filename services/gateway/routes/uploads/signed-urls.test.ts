import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rawExchange, type Fixture, openFixture } from '../../test/fixture.ts';

const key = 'uz/f/u/Звонки 100%?#&+.csv';
const limits = { expiresInSeconds: 3600, maxBytes: 1000 };

let edge: Fixture;
let putUrl: string;

beforeAll(async () => {
  edge = await openFixture();
  putUrl = await edge.objects.presignPut(key, limits);
});

afterAll(() => edge.close());

const stored = async (at: string) => text(await edge.objects.open(at));
const head = (method: string, url: string, lines: string[]) =>
  `${[`${method} ${url} HTTP/1.1`, 'Host: x', ...lines].join('\r\n')}\r\n\r\n`;

describe('uploading to a signed URL', () => {
  it('stores the bytes and returns 200 without a body', async () => {
    const response = await fetch(edge.url + putUrl, {
      method: 'PUT',
      body: 'a,b\n',
      headers: { 'content-type': 'text/csv' },
    });
    expect([response.status, await response.text(), response.headers.get('content-length')]).toEqual([200, '', '0']);
    expect(await stored(key)).toBe('a,b\n');
  });

  it('ignores an Authorization header, valid or not', async () => {
    expect((await edge.request('PUT', putUrl, { body: 'x', headers: { authorization: 'nonsense' } })).status).toBe(200);
  });

  it('accepts a body of unknown length and an empty one', async () => {
    const chunked = await rawExchange(edge.url, (socket) => {
      socket.write(head('PUT', putUrl, ['Transfer-Encoding: chunked', 'Connection: close']));
      socket.write('3\r\nabc\r\n0\r\n\r\n');
    });
    expect(chunked).toMatch(/^HTTP\/1.1 200 /);
    expect(await stored(key)).toBe('abc');
    expect((await edge.request('PUT', putUrl)).status).toBe(200);
    expect(await stored(key)).toBe('');
  });

  it('accepts the absolute form of the URL', async () => {
    const response = await rawExchange(edge.url, (socket) => {
      socket.write(`${head('PUT', `http://calls.example${putUrl}`, ['Content-Length: 2', 'Connection: close'])}xy`);
    });
    expect(response).toMatch(/^HTTP\/1.1 200 /);
    expect(await stored(key)).toBe('xy');
  });

  it('ignores digests in headers', async () => {
    const headers = { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==', 'content-digest': 'md5=:AAAAAAAAAAAAAAAAAAAAAA==:' };
    expect((await edge.request('PUT', putUrl, { body: 'xy', headers })).status).toBe(200);
    expect(await stored(key)).toBe('xy');
  });

  it('stores many megabytes unchanged', async () => {
    const bytes = randomBytes(20_000_000);
    const url = await edge.objects.presignPut('large', { expiresInSeconds: 3600, maxBytes: bytes.length });
    expect((await edge.request('PUT', url, { body: bytes })).status).toBe(200);
    const hash = createHash('sha256');
    for await (const chunk of await edge.objects.open('large')) hash.update(chunk as Buffer);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  it('is refused before the bytes are sent when too many are declared', async () => {
    const response = await rawExchange(edge.url, (socket) => {
      socket.write(head('PUT', putUrl, ['Content-Length: 1001']));
      socket.once('data', () => socket.end());
    });
    expect(response).toMatch(/^HTTP\/1.1 413 /);
    expect(response).toContain('FILE_TOO_LARGE');
  });

  it('is refused when too many bytes are sent, and keeps the old ones', async () => {
    await edge.request('PUT', putUrl, { body: 'old' });
    const response = await rawExchange(edge.url, (socket) => {
      socket.write(head('PUT', putUrl, ['Transfer-Encoding: chunked']));
      socket.once('data', () => socket.end());
      for (let sent = 0; sent < 20; sent += 1) socket.write(`64\r\n${'x'.repeat(100)}\r\n`);
    });
    expect(response).toMatch(/^HTTP\/1.1 413 /);
    expect(response.match(/HTTP\/1.1/g)).toHaveLength(1);
    expect(await stored(key)).toBe('old');
  });

  it.each([
    ['altered', (url: string) => url.replace('max=1000', 'max=9999')],
    ['for another key', (url: string) => url.replace('/uz/', '/us/')],
    ['without signature', (url: string) => url.replace(/&signature=.*/, '')],
    ['with a path that does not decode', (url: string) => url.replace('%20', '%2')],
  ])('is forbidden when the URL is %s, and stores nothing', async (_, alter) => {
    await edge.objects.remove(key);
    const response = await edge.request('PUT', alter(putUrl), { body: 'x' });
    expect([response.status, response.body['code']]).toEqual([403, 'FORBIDDEN']);
    expect(response.body['message']).toMatch(/^This URL was changed or has expired\./);
    expect(await edge.objects.head(key)).toBeNull();
  });

  it('names the method that the URL was signed for', async () => {
    const getUrl = await edge.objects.presignGet(key, { expiresInSeconds: 60 });
    const messages = [await edge.request('PUT', getUrl, { body: 'x' }), await edge.request('GET', putUrl)].map(
      ({ status, body }) => [status, body['message']],
    );
    expect(messages).toEqual([
      [403, 'This URL is for GET, not for PUT.'],
      [403, 'This URL is for PUT, not for GET.'],
    ]);
  });

  it('is forbidden once the URL has expired', async () => {
    const expired = await edge.objects.presignPut(key, { ...limits, expiresInSeconds: -1 });
    const response = await edge.request('PUT', expired, { body: 'x' });
    expect([response.status, response.body['message']]).toEqual([403, 'This URL has expired. Request a new one.']);
  });

  it('leaves nothing when the client disconnects in the middle', async () => {
    await edge.request('PUT', putUrl, { body: 'old' });
    const aborted = () =>
      edge.log.filter((line) => line['route'] === '/objects/*key' && line['aborted'] === true).length;
    const before = aborted();
    await rawExchange(edge.url, (socket) => {
      socket.write(head('PUT', putUrl, ['Content-Length: 500', 'Expect: 100-continue']));
      // The file is being stored now.
      socket.once('data', () => socket.write('x'.repeat(100), () => socket.destroy()));
    });
    await waitUntil(() => aborted() > before);
    expect(await stored(key)).toBe('old');
  });

  it('sends 100 Continue only after the URL is verified', async () => {
    const refused = await rawExchange(edge.url, (socket) => {
      socket.write(head('PUT', putUrl.replace('max=1000', 'max=9999'), ['Content-Length: 5', 'Expect: 100-continue']));
      socket.once('data', () => socket.end());
    });
    expect(refused).toMatch(/^HTTP\/1.1 403 /);
    const welcome = await rawExchange(edge.url, (socket) => {
      socket.write(head('PUT', putUrl, ['Content-Length: 5', 'Expect: 100-continue', 'Connection: close']));
      socket.once('data', () => socket.write('hello'));
    });
    expect(welcome).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
    expect(await stored(key)).toBe('hello');
  });
});

describe('downloading from a signed URL', () => {
  let getUrl: string;

  beforeAll(async () => {
    await edge.objects.put('uz/f/u/Запись (1).wav', Readable.from([Buffer.from('0123456789')]));
    getUrl = await edge.objects.presignGet('uz/f/u/Запись (1).wav', { expiresInSeconds: 3600 });
  });

  it('serves a recording that any page can play inline', async () => {
    const response = await edge.request('GET', getUrl);
    expect([response.status, response.text]).toEqual([200, '0123456789']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': '10',
      'content-type': 'audio/wav',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent('Запись ')}%281%29.wav`,
      'cross-origin-resource-policy': 'cross-origin',
    });
  });

  it.each([
    ['a.WAV', 'audio/wav'],
    ['a.mp3', 'audio/mpeg'],
    ['a.flac', 'audio/flac'],
    ['a.ogg', 'audio/ogg'],
    ['a.aiff', 'audio/aiff'],
    ['a.au', 'audio/basic'],
  ])('serves %s as %s, complete and in part', async (name, type) => {
    await edge.objects.put(`recordings/f/${name}`, Readable.from([Buffer.from('0123456789')]));
    const url = await edge.objects.presignGet(`recordings/f/${name}`, { expiresInSeconds: 3600 });
    for (const range of ['bytes=0-', 'bytes=5-6']) {
      const response = await edge.request('GET', url, { headers: { range } });
      expect([response.status, response.headers.get('content-type')]).toEqual([206, type]);
      expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    }
  });

  it('serves any other file as a download', async () => {
    await edge.objects.put('page.html', Readable.from(['<script>1</script>']));
    const response = await edge.request('GET', await edge.objects.presignGet('page.html', { expiresInSeconds: 3600 }));
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''page.html");
  });

  it('serves a range, or 416 when there is none', async () => {
    const part = await edge.request('GET', getUrl, { headers: { range: 'bytes=2-4' } });
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    const none = await edge.request('GET', getUrl, { headers: { range: 'bytes=10-' } });
    expect([none.status, none.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    expect(none.body).toMatchObject({ status: 'error', code: 'RANGE_NOT_SATISFIABLE' });
  });

  it('answers HEAD, and 304 to a client that has the bytes', async () => {
    const response = await edge.request('HEAD', getUrl);
    expect([response.status, response.headers.get('content-length'), response.text]).toEqual([200, '10', '']);
    const etag = response.headers.get('etag') ?? '';
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const { status, text: body } = await edge.request('GET', getUrl, { headers: { 'if-none-match': known } });
      expect([known, status, body]).toEqual([known, 304, '']);
    }
    expect((await edge.request('GET', getUrl, { headers: { 'if-none-match': '"x", W/"y"' } })).status).toBe(200);
    const parts = await edge.request('HEAD', getUrl, { headers: { range: 'bytes=2-4' } });
    expect([parts.status, parts.headers.get('content-length')]).toEqual([200, '10']);
    const resumed = await edge.request('GET', getUrl, { headers: { range: 'bytes=8-', 'if-range': etag } });
    expect([resumed.status, resumed.text]).toEqual([206, '89']);
  });

  it('serves an empty file', async () => {
    await edge.objects.put('empty', Readable.from([]));
    const response = await edge.request('GET', await edge.objects.presignGet('empty', { expiresInSeconds: 3600 }));
    expect([response.status, response.text, response.headers.get('content-length')]).toEqual([200, '', '0']);
  });

  it('is forbidden with the URL of a PUT, and vice versa', async () => {
    await edge.request('PUT', putUrl, { body: 'x' });
    expect((await edge.request('GET', putUrl)).body['code']).toBe('FORBIDDEN');
    expect((await edge.request('PUT', getUrl, { body: 'x' })).body['code']).toBe('FORBIDDEN');
  });

  it('is 404 when nothing was uploaded', async () => {
    const response = await edge.request('GET', await edge.objects.presignGet('nothing', { expiresInSeconds: 3600 }));
    expect([response.status, response.body['code']]).toEqual([404, 'NOT_FOUND']);
  });
});
