import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, rawExchange, tokenFor } from '../../test/fixture.ts';

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture({ corsOrigins: ['https://page.example'] });
});

afterAll(() => edge.close());

/** A response as it travels: without the decompression of `fetch`. */
async function received(path: string, ...lines: string[]) {
  const request = [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n');
  const bytes = Buffer.from(await rawExchange(edge.url, (socket) => socket.write(request)), 'latin1');
  const end = bytes.indexOf('\r\n\r\n');
  const [status = '', ...headerLines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Headers(headerLines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
  const sent = bytes.subarray(end + 4);
  return { status, headers, body: headers.get('transfer-encoding') === 'chunked' ? unchunked(sent) : sent };
}

function unchunked(sent: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const line = sent.indexOf('\r\n', at);
    const size = Number.parseInt(sent.subarray(at, line).toString(), 16);
    if (!(size > 0)) return Buffer.concat(pieces);
    pieces.push(sent.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

describe('a response of more than 1 KiB', () => {
  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('is compressed with %s if the client accepts it', async (encoding, decompress) => {
    const plain = await received('/openapi.json');
    const { headers, body } = await received(
      '/openapi.json',
      `Accept-Encoding: ${encoding}`,
      'Origin: https://page.example',
    );
    expect(headers.get('content-encoding')).toBe(encoding);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('vary')).toBe('Origin, Accept-Encoding');
    expect(headers.get('content-length')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(decompress(body).equals(plain.body)).toBe(true);
    expect(body.length).toBeLessThan(plain.body.length / 5);
  });

  it('prefers Brotli, as browsers send it', async () => {
    const { headers } = await received('/openapi.json', 'Accept-Encoding: gzip, deflate, br, zstd');
    expect(headers.get('content-encoding')).toBe('br');
  });

  it.each(['identity', 'br;q=0, gzip;q=0', 'zstd'])(
    'is sent as it is to a client that accepts %s',
    async (accepted) => {
      const { headers, body } = await received('/openapi.json', `Accept-Encoding: ${accepted}`);
      expect(headers.get('content-encoding')).toBeNull();
      expect(Number(headers.get('content-length'))).toBe(body.length);
    },
  );

  it('is compressed while it is produced', async () => {
    edge.calls.downloadRejected = async function* () {
      for (let row = 0; row < 1000; row++) yield { data: Buffer.from(`row ${row},${'x'.repeat(100)}\n`) };
    };
    const path = '/api/v1/calls/rejected/1a2b3c4d-0000-4000-8000-0000000000ff';
    const { headers, body } = await received(path, `Authorization: Bearer ${tokenFor('ADMIN')}`, 'Accept-Encoding: br');
    expect(headers.get('content-encoding')).toBe('br');
    expect(brotliDecompressSync(body).toString()).toMatch(/^row 0,x+\n(row \d+,x+\n){999}$/);
  });

  it('is also compressed as an error, whose connection closes', async () => {
    const { status, headers, body } = await received(
      `/api/v1/calls?${'x'.repeat(50)}=1&${Array.from({ length: 60 }, (_, at) => `unknown${at}=1`).join('&')}`,
      `Authorization: Bearer ${tokenFor('ADMIN')}`,
      'Accept-Encoding: gzip',
    );
    expect([status, headers.get('content-encoding')]).toEqual(['HTTP/1.1 400 Bad Request', 'gzip']);
    expect(JSON.parse(gunzipSync(body).toString())).toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});

describe('a response', () => {
  it('of at most 1 KiB is never compressed', async () => {
    const { headers, body } = await received('/healthz', 'Accept-Encoding: br, gzip');
    expect(headers.get('content-encoding')).toBeNull();
    expect(body.toString()).toBe('{"status":"ok"}');
  });

  it.each([[[]], [['Range: bytes=10-4000']]])('with the bytes of a file is never compressed', async (range) => {
    const key = `uz/${firm.uuid}/u/a.csv`;
    await edge.objects.put(key, Readable.from([Buffer.alloc(50_000, 'a,b\n')]));
    const { pathname, search } = new URL(await edge.objects.presignGet(key, { expiresInSeconds: 60 }), edge.url);
    const { headers, body } = await received(pathname + search, 'Accept-Encoding: br, gzip', ...range);
    expect(headers.get('content-encoding')).toBeNull();
    expect(body.length).toBe(range.length === 0 ? 50_000 : 3991);
  });
});
