import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fixture, rawExchange, openFixture, tokenFor } from './test/fixture.ts';

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
  edge.calls.listCalls = async () => ({ count: 0, items: [] });
});

afterAll(() => edge.close());

const bearer = `Authorization: Bearer ${tokenFor('ADMIN')}`;
const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

function parts(response: string) {
  const [headers = '', body = ''] = response.split('\r\n\r\n', 2);
  return { headers, body: JSON.parse(body) as Record<string, unknown> };
}

/** The headers that do not depend on the request. */
async function linesOfEveryResponse(): Promise<string[]> {
  const ownHead = /^(?:HTTP|Content-Type|Content-Length|X-Request-Id|Date|Vary|Allow|Connection|Keep-Alive|RateLimit)/i;
  const response = await rawExchange(edge.url, (socket) =>
    socket.write(head('GET /nowhere HTTP/1.1', 'Host: x', 'Connection: close')),
  );
  const lines = parts(response)
    .headers.split('\r\n')
    .filter((line) => !ownHead.test(line));
  expect(lines.length).toBeGreaterThan(5);
  return lines;
}

describe('an invalid request', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'INVALID_REQUEST'],
    ['no Host', head('GET /healthz HTTP/1.1', 'Connection: close'), 400, 'INVALID_REQUEST'],
    ['two Hosts', head('GET /healthz HTTP/1.1', 'Host: x', 'host: y', 'Connection: close'), 400, 'INVALID_REQUEST'],
    ['two Hosts in HTTP/1.0', head('GET /healthz HTTP/1.0', 'Host: x', 'Host: x'), 400, 'INVALID_REQUEST'],
    [
      'two lengths',
      head('POST /x HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2'),
      400,
      'INVALID_REQUEST',
    ],
    [
      'both length and chunks',
      head('POST /x HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      400,
      'INVALID_REQUEST',
    ],
    [
      'headers of 200 KB',
      head('GET /healthz HTTP/1.1', 'Host: x', `X: ${'x'.repeat(200_000)}`),
      431,
      'HEADERS_TOO_LARGE',
    ],
    [
      'many short headers',
      head('GET /healthz HTTP/1.1', 'Host: x', ...Array.from({ length: 3000 }, () => 'a: b'), 'Connection: close'),
      431,
      'HEADERS_TOO_LARGE',
    ],
    ['a URL of 200 KB', head(`GET /${'x'.repeat(200_000)} HTTP/1.1`, 'Host: x'), 431, 'HEADERS_TOO_LARGE'],
    ['a tunnel', head('CONNECT example.org:443 HTTP/1.1', 'Host: x'), 405, 'METHOD_NOT_ALLOWED'],
  ])('with %s gets an error in the usual shape', async (_, sent, status, code) => {
    const response = await rawExchange(edge.url, (socket) => socket.write(sent, 'latin1'));
    const { headers, body } = parts(response);
    expect(headers).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(headers.toLowerCase()).toContain('content-type: application/json');
    expect(headers.toLowerCase()).toContain('x-request-id: ');
    expect(body).toEqual({ status: 'error', code, message: expect.any(String), details: null });
    for (const line of await linesOfEveryResponse()) expect(headers).toContain(line);
  });

  it('is one with more than 16 KiB of a request line and headers, and not one with 16 KiB', async () => {
    const lines = ['GET /nowhere HTTP/1.1', 'Host: x', 'Connection: close'];
    while (lines.join('\r\n').length < 16_000) lines.push('a: b');
    const padding = 'b'.repeat(16_384 - [...lines, 'a: ', ''].join('\r\n').length);
    const answerTo = (rest: string) => rawExchange(edge.url, (socket) => socket.write(head(...lines, rest)));
    expect(await answerTo(`a: ${padding}`)).toMatch(/^HTTP\/1.1 404 /);
    const refused = await answerTo(`a: b${padding}`);
    expect(refused).toMatch(/^HTTP\/1.1 431 /);
    expect(parts(refused).body).toMatchObject({ status: 'error', code: 'HEADERS_TOO_LARGE', details: null });
  });

  it.each([
    ['HTTP/1.0 with chunks', 'HTTP/1.0', 'chunked'],
    ['a transfer coding before the chunks', 'HTTP/1.1', 'gzip, chunked'],
    ['chunks twice', 'HTTP/1.1', 'chunked, chunked'],
  ])('of %s is refused, and nothing after it on the connection is read', async (_, version, encoding) => {
    const path = '/api/v1/calls/upload';
    const lines = ['Host: x', bearer, 'Content-Type: application/json', `Transfer-Encoding: ${encoding}`];
    const broken = head(`POST ${path} ${version}`, ...lines, 'Connection: keep-alive');
    const next = head('GET /healthz HTTP/1.1', 'Host: x', 'Connection: close');
    const response = await rawExchange(edge.url, (socket) => socket.write(`${broken}2\r\n{}\r\n0\r\n\r\n${next}`));
    expect(response).toMatch(/^HTTP\/1.1 400 /);
    expect(response).toContain('"code":"INVALID_REQUEST"');
    expect(response.match(/HTTP\/1.1 /g)).toHaveLength(1);
    expect(response.toLowerCase()).toContain('connection: close');
  });

  it('after others gets its error after their responses', async () => {
    const end = Promise.withResolvers<void>();
    edge.calls.listCalls = async () => {
      await end.promise;
      return { count: 7, items: [] };
    };
    const good = head('GET /api/v1/calls HTTP/1.1', 'Host: x', bearer);
    const received = rawExchange(edge.url, async (socket) => {
      socket.write(`${good}${good}nonsense\r\n\r\n`);
      // Each request to another connection gives the gateway the time to read what was written before.
      await edge.request('GET', '/healthz');
      socket.write('more nonsense\r\n\r\n');
      await edge.request('GET', '/healthz');
      end.resolve();
    });
    const responses = await received;
    edge.calls.listCalls = async () => ({ count: 0, items: [] });
    expect(responses.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(responses.match(/"count":7/g)).toHaveLength(2);
  });

  it('for a tunnel gets the list of methods', async () => {
    const response = await rawExchange(edge.url, (socket) =>
      socket.write(head('CONNECT example.org:443 HTTP/1.1', 'Host: x')),
    );
    expect(parts(response).headers).toMatch(/^Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS$/im);
  });

  it('does not affect the next one', async () => {
    expect((await edge.request('GET', '/healthz')).body).toEqual({ status: 'ok' });
    expect((await edge.request('GET', '/readyz')).body).toEqual({ status: 'ready' });
  });
});

describe('a client that ends its side after its request', () => {
  it('gets its response, and then the connection is closed', async () => {
    edge.calls.listCalls = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { count: 7, items: [] };
    };
    const response = await rawExchange(edge.url, (socket) =>
      socket.end(head('GET /api/v1/calls HTTP/1.1', 'Host: x', bearer)),
    );
    edge.calls.listCalls = async () => ({ count: 0, items: [] });
    expect(parts(response).body).toMatchObject({ count: 7 });
  });

  it('in the middle of a body gets an error', async () => {
    const lines = ['Host: x', 'Content-Type: application/json', 'Content-Length: 100', bearer];
    const response = await rawExchange(edge.url, (socket) =>
      socket.end(`${head('POST /api/v1/calls/upload HTTP/1.1', ...lines)}{`),
    );
    expect(response).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('a client that is refused while it sends', () => {
  it.each([
    ['without a token', [], 401],
    ['with more than a JSON body may have', [bearer], 413],
  ])('%s can read the error, may send for a while and is then cut off', async (_, lines, status) => {
    let sent = 0;
    const response = await rawExchange(edge.url, (socket) => {
      socket.write(
        head(
          'POST /api/v1/calls/upload HTTP/1.1',
          'Host: x',
          'Content-Type: application/json',
          'Content-Length: 104857600',
          ...lines,
        ),
      );
      const chunk = Buffer.alloc(65_536, ' ');
      const send = () => {
        sent += chunk.length;
        if (socket.writable && sent < 104_857_600) socket.write(chunk, () => setTimeout(send, 1));
      };
      send();
    });
    const { headers, body } = parts(response);
    expect(headers).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(headers.toLowerCase()).toContain('connection: close');
    expect(body).toMatchObject({ status: 'error' });
    expect(sent).toBeLessThan(60_000_000);
  });

  it('may be an ordinary HTTP client', async () => {
    const body = new Uint8Array(5_000_000);
    const response = await edge.request('POST', '/api/v1/calls/upload', {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([response.status, response.body['code']]).toEqual([413, 'BODY_TOO_LARGE']);
  });

  it('and sent Expect: 100-continue is refused without sending the body', async () => {
    const response = await rawExchange(edge.url, (socket) => {
      const lines = ['Host: x', 'Content-Type: application/json', 'Content-Length: 9999999', 'Expect: 100-continue'];
      socket.write(head('POST /api/v1/calls/upload HTTP/1.1', bearer, ...lines));
      socket.once('data', () => socket.end());
    });
    expect(response).toMatch(/^HTTP\/1.1 413 /);
  });
});

describe('HOST', () => {
  it.each(['192.0.2.1', 'no-such-host.invalid'])('says that %s is not an address of this machine', async (host) => {
    await expect(openFixture({ host })).rejects.toMatchObject({
      name: 'StartFault',
      message: `${host} is not an address of this machine. Set HOST to one that is.`,
    });
  });
});

describe('closing', () => {
  it('returns 503 from /readyz first, finishes requests in flight and closes idle connections', async () => {
    const stopping = await openFixture();
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    stopping.calls.listCalls = async () => {
      begun.resolve();
      await end.promise;
      return { count: 7, items: [] };
    };
    const [connected, served] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const silent = rawExchange(stopping.url, () => connected.resolve());
    const idle = rawExchange(stopping.url, (socket) => {
      socket.write(head('GET /healthz HTTP/1.1', 'Host: x'));
      socket.once('data', () => served.resolve());
    });
    await Promise.all([connected.promise, served.promise]);
    const inFlight = stopping.request('GET', '/api/v1/calls');
    await begun.promise;
    stopping.readiness.drain();
    const ready = await stopping.request('GET', '/readyz');
    expect([ready.status, ready.body['code'], ready.headers.get('connection')]).toEqual([503, 'UNAVAILABLE', 'close']);
    const closed = stopping.closeHttp();
    // The request in flight continues, so not all connections were cut.
    expect(await silent).toBe('');
    expect(await idle).toContain('{"status":"ok"}');
    end.resolve();
    const last = await inFlight;
    // The request arrived before the gateway began to drain.
    expect([last.body['count'], last.headers.get('connection')]).toEqual([7, 'close']);
    await closed;
    await expect(stopping.request('GET', '/healthz')).rejects.toThrow();
    await stopping.close();
  });

  it('frees the port, which was not available before', async () => {
    const secondOnPortOf = async (first: Fixture): Promise<Fixture> => {
      const port = Number(new URL(first.url).port);
      await expect(openFixture({ port })).rejects.toMatchObject({
        name: 'StartFault',
        message: `Port ${port} is in use. Stop what listens there, or set PORT to another one.`,
      });
      await first.close();
      return openFixture({ port });
    };
    // Another process may get the port in between, but hardly three times in a row.
    const again = async () => secondOnPortOf(await openFixture());
    const second = await again().catch(again).catch(again);
    expect((await second.request('GET', '/healthz')).status).toBe(200);
    await second.close();
  });
});
