import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, newFirm } from '../test/client/new-firm.ts';
import { problemOf } from '../test/client/problem.ts';
import { fetchWhenAvailable } from '../test/client/retry.ts';
import { growthMiB } from '../test/system/memory.ts';
import { startSystemUnderTest, type SystemUnderTest } from '../test/system/system-under-test.ts';

let service: SystemUnderTest;
let client: Client;
beforeAll(async () => {
  service = await startSystemUnderTest();
  client = await newFirm(service, { role: 'SUPERUSER' });
});
afterAll(async () => {
  await service.stop();
});

const UPLOAD = '/api/v1/calls/upload';
const PROCESS = '/api/v1/calls/process-upload';
const KEY = '/external/api/v1/api-key';

function ask(
  method: string,
  path: string,
  init: { body?: string | Uint8Array<ArrayBuffer>; headers?: Record<string, string> } = {},
) {
  const { body, headers } = init;
  return fetchWhenAvailable(service.url + path, {
    method,
    headers: {
      authorization: `Bearer ${client.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
}

interface Poured {
  readonly answer: Response;
  readonly sent: number;
}

/**
 * Sends spaces until the service answers, and returns how many bytes were sent. The service closes the connection when it
 * refuses a body. A client whose write fails before it has read the response never gets it, so this sends the request again.
 */
async function pour(path: string, headers: Record<string, string>, totalBytes: number): Promise<Poured> {
  for (let tries = 1; ; tries++) {
    const poured = await pourOnce(path, headers, totalBytes).catch((error: unknown) => {
      if (tries === POUR_TRIES) throw error;
      return undefined;
    });
    if (poured !== undefined) return poured;
  }
}

const POUR_TRIES = 5;

async function pourOnce(path: string, headers: Record<string, string>, totalBytes: number): Promise<Poured> {
  const outgoing = request(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json', ...headers },
  });
  const over = new AbortController();
  const response = once(outgoing, 'response').then(async ([incoming]: IncomingMessage[]) => {
    over.abort();
    const text = await new Response(Readable.toWeb(incoming!) as ReadableStream).text();
    return new Response(text, { status: incoming!.statusCode!, headers: incoming!.headers as Record<string, string> });
  });
  response.catch(() => {});
  outgoing.on('error', () => {}).once('close', () => over.abort());
  const chunk = Buffer.alloc(64 * 1024, ' ');
  let sent = 0;
  while (sent < totalBytes && !over.signal.aborted) {
    sent += chunk.length;
    if (!outgoing.write(chunk)) await once(outgoing, 'drain', { signal: over.signal }).catch(() => {});
  }
  try {
    return { answer: await response, sent };
  } finally {
    outgoing.destroy();
  }
}

describe('a JSON body', () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>, Record<string, string>]>([
    ['nothing', '', {}],
    ['half of an object', '{"metadata_filename":', {}],
    ['a list', '[]', {}],
    ['null', 'null', {}],
    ['a text', '"a.csv"', {}],
    ['NaN', 'NaN', {}],
    ['a comment', '{}// ', {}],
    ['a hundred thousand open lists', '['.repeat(100_000), {}],
    ['UTF-16', Buffer.from('{"metadata_filename":"a.csv"}', 'utf16le'), {}],
    ['bytes that are not UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), {}],
    ['a form', 'metadata_filename=a.csv', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['JSON that is said to be text', '{"metadata_filename":"a.csv"}', { 'content-type': 'text/plain' }],
    [
      'JSON in another character set',
      '{"metadata_filename":"a.csv"}',
      { 'content-type': 'application/json; charset=windows-1251' },
    ],
    [
      'JSON that is compressed',
      new Uint8Array(gzipSync('{"metadata_filename":"a.csv"}')),
      { 'content-encoding': 'gzip' },
    ],
  ])('that is %s is INVALID_JSON', async (_, body, headers) => {
    const response = await ask('POST', UPLOAD, { body, headers });
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'INVALID_JSON', details: null });
  });

  it.each<[string, string, string, string[]]>([
    ['no field', UPLOAD, '{}', ['metadata_filename']],
    ['a number for a text', UPLOAD, '{"metadata_filename":1}', ['metadata_filename']],
    ['null for a text', UPLOAD, '{"metadata_filename":null}', ['metadata_filename']],
    [
      'lists a hundred thousand deep for a text',
      UPLOAD,
      `{"metadata_filename":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      ['metadata_filename'],
    ],
    [
      'objects a hundred thousand deep',
      UPLOAD,
      `{"metadata_filename":"a.csv","x":${'{"x":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      ['x'],
    ],
    ['__proto__', UPLOAD, '{"metadata_filename":"a.csv","__proto__":{"audios_filename":"a.zip"}}', ['__proto__']],
    ['constructor', UPLOAD, '{"metadata_filename":"a.csv","constructor":{"prototype":{}}}', ['constructor']],
    ['a NUL', UPLOAD, '{"metadata_filename":"a\\u0000.csv"}', ['metadata_filename']],
    ['a lone surrogate', UPLOAD, '{"metadata_filename":"\\ud800.csv"}', ['metadata_filename']],
    ['a path', UPLOAD, '{"metadata_filename":"../../etc/a.csv"}', ['metadata_filename']],
    ['a backslash', UPLOAD, '{"metadata_filename":"..\\\\a.csv"}', ['metadata_filename']],
    [
      'another extension',
      UPLOAD,
      '{"metadata_filename":"a.xlsx","audios_filename":"a.rar"}',
      ['metadata_filename', 'audios_filename'],
    ],
    ['a name of 201 bytes', UPLOAD, `{"metadata_filename":"${'я'.repeat(98)}a.csv"}`, ['metadata_filename']],
    [
      'several faults',
      PROCESS,
      '{"metadata_key":"","audio_key":"a","on_error":"ignore"}',
      ['metadata_key', 'on_error', 'audio_key'],
    ],
    ['a key with a NUL', PROCESS, '{"metadata_key":"a\\u0000b"}', ['metadata_key']],
    ['a firm that is no uuid', KEY, '{"firm_uuid":"acme"}', ['firm_uuid']],
  ])('with %s gets VALIDATION_ERROR with every invalid field', async (_, path, body, fields) => {
    const response = await ask('POST', path, { body });
    expect(response.status).toBe(400);
    const { code, details } = await problemOf(response);
    expect(code).toBe('VALIDATION_ERROR');
    const faults = details!['fields'] as { field: string; code: string; message: string }[];
    expect(faults.map(({ field }) => field).sort()).toEqual([...fields].sort());
    for (const fault of faults) expect(Object.keys(fault).sort()).toEqual(['code', 'field', 'message']);
  });

  it('with a misspelled field gets the correct name', async () => {
    const response = await ask('POST', PROCESS, { body: '{"metadata_key":"k","audio_key":"a"}' });
    expect(JSON.stringify(await problemOf(response))).toContain('did you mean audios_key?');
  });

  it('with a hundred thousand unknown fields gets a response of reasonable size', async () => {
    const body = `{${Array.from({ length: 80_000 }, (_, index) => `"f${index}":1`).join(',')}}`;
    const response = await ask('POST', UPLOAD, { body });
    const text = await response.clone().text();
    expect(await problemOf(response)).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(text.length).toBeLessThan(50_000);
  });

  it('of 100 MB, twenty at a time, gets BODY_TOO_LARGE immediately, with or without a declared length, and takes no memory', async () => {
    const size = 100_000_000;
    const lengths = [
      ['content-length', String(size)],
      ['transfer-encoding', 'chunked'],
    ] as const;
    const growth = await growthMiB(service.pids, async () => {
      const bodies = Array.from({ length: 20 }, async (_, index) => {
        const [name, value] = lengths[index % 2]!;
        const { answer, sent } = await pour(UPLOAD, { [name]: value }, size);
        expect(answer.status).toBe(413);
        expect(await problemOf(answer)).toMatchObject({ code: 'BODY_TOO_LARGE', details: null });
        expect(sent).toBeLessThan(32 * 1024 * 1024);
      });
      await Promise.all(bodies);
    });
    // Of two thousand megabytes. Memory that is not collected yet may be a hundred.
    expect(growth).toBeLessThan((20 * size) / 1_000_000 / 4);
  });
});

describe('a list', () => {
  it.each(['/api/v1/calls', '/api/v1/calls/batches', KEY])(
    '%s refuses pages and sizes out of range, and has no items past the end',
    async (path) => {
      const wrong = [
        'page=0',
        'page=-1',
        'page=1.5',
        'page=x',
        'page=',
        'page=1e1',
        'page=%00',
        'page=1&page=2',
        'page=99999999999999999999',
      ];
      const sizes = ['size=0', 'size=101', 'size=-1', 'size=ten', 'size=', 'size=10&size=10'];
      for (const query of [...wrong, ...sizes]) {
        const response = await ask('GET', `${path}?${query}`);
        expect([query, response.status]).toEqual([query, 400]);
        const { code, details } = await problemOf(response);
        expect([code, details]).toMatchObject(['VALIDATION_ERROR', { fields: [{ field: query.split('=')[0] }] }]);
      }
      for (const query of ['size=1', 'size=100', 'page=1&size=100', 'page=1000000&size=100']) {
        const response = await ask('GET', `${path}?${query}`);
        expect(response.status).toBe(200);
        const { count, items } = (await response.json()) as { count: number; items: unknown[] };
        expect(count).toBeGreaterThanOrEqual(items.length);
        if (query.includes('1000000')) expect(items).toEqual([]);
      }
    },
  );

  it.each([
    'statuss=queued',
    '__proto__=1',
    'status=unheard-of',
    'batch=mine',
    'partner_call_id=%00',
    'status=queued&status=lost',
    '=x',
    'q',
  ])('refuses the query ?%s', async (query) => {
    const response = await ask('GET', `/api/v1/calls?${query}`);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it('accepts percent signs, SQL syntax and many scripts in its filters', async () => {
    for (const value of ['%25', "'; DROP TABLE calls; --", '%F0%9F%8E%A7', '%D0%B0%', 'a'.repeat(255)]) {
      const response = await ask('GET', `/api/v1/calls?partner_call_id=${value}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ count: 0, items: [] });
    }
  });
});

describe('a path', () => {
  const unknown = '00000000-0000-4000-8000-000000000000';

  it.each([
    ['GET', '/'],
    ['GET', '/api/v1'],
    ['GET', '/api/v2/calls'],
    ['GET', '/API/V1/CALLS'],
    ['GET', '/api/v1/calls/not-a-uuid'],
    ['GET', `/api/v1/calls/${unknown}`],
    ['GET', '/api/v1/calls/%00'],
    ['GET', '/api/v1/calls/%E0%A4%A'],
    ['GET', '/api/v1/calls/..%2f..%2fetc%2fpasswd'],
    ['GET', `/api/v1/calls/${unknown}/analysis`],
    ['POST', '/api/v1/calls/not-a-uuid/retry'],
    ['POST', `/api/v1/calls/${unknown}/retry`],
    ['GET', '/api/v1/calls/batches/not-a-uuid'],
    ['GET', `/api/v1/calls/batches/${unknown}`],
    ['GET', `/api/v1/calls/rejected/${unknown}`],
    ['DELETE', `${KEY}/not-a-uuid`],
    ['DELETE', `${KEY}/${unknown}`],
    ['GET', '/favicon.ico'],
  ])('that does not exist gets 404: %s %s', async (method, path) => {
    const response = await ask(method, path);
    expect(response.status).toBe(404);
    expect(await problemOf(response)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each([
    ['/healthz', 'POST', 'GET, HEAD, OPTIONS'],
    ['/readyz', 'DELETE', 'GET, HEAD, OPTIONS'],
    ['/api/v1/calls', 'POST', 'GET, HEAD, DELETE, OPTIONS'],
    [UPLOAD, 'PUT', 'POST, OPTIONS'],
    [PROCESS, 'PATCH', 'POST, OPTIONS'],
    [KEY, 'PUT', 'POST, GET, HEAD, OPTIONS'],
    [`${KEY}/${unknown}`, 'GET', 'DELETE, OPTIONS'],
    ['/external/api/v1/call-campaign', 'DELETE', 'POST, GET, HEAD, OPTIONS'],
  ])(
    '%s answers other methods with 405 and the allowed methods, and OPTIONS with the allowed methods',
    async (path, method, allow) => {
      const refused = await ask(method, path);
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, allow]);
      expect(await problemOf(refused)).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
      const options = await ask('OPTIONS', path);
      expect([options.status, options.headers.get('allow'), await options.text()]).toEqual([204, allow, '']);
    },
  );

  it('answers HEAD as GET, without the body', async () => {
    for (const [path, status] of [
      ['/healthz', 200],
      ['/api/v1/calls', 200],
      ['/nowhere', 404],
    ] as const) {
      const response = await ask('HEAD', path);
      expect([response.status, await response.text()]).toEqual([status, '']);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(response.headers.get('x-request-id')).not.toBeNull();
    }
  });

  it('returns a valid request id, and replaces an invalid one', async () => {
    const id = 'Order-1.2_3';
    expect((await ask('GET', '/nowhere', { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toBe(id);
    for (const bad of ['a b', 'x'.repeat(129), '<script>']) {
      const response = await ask('GET', '/nowhere', { headers: { 'x-request-id': bad } });
      expect(response.headers.get('x-request-id')).not.toBe(bad);
      await problemOf(response);
    }
  });
});

describe('a caller without valid credentials', () => {
  it.each(['', 'Bearer', 'Bearer ', 'Bearer x', 'Bearer a.b.c', 'Basic YTpi', `Bearer ${'x'.repeat(10_000)}`])(
    'gets UNAUTHENTICATED for %j, before the rest of the request is checked',
    async (authorization) => {
      const response = await ask('POST', UPLOAD, { body: '{', headers: { authorization } });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(await problemOf(response)).toMatchObject({ code: 'UNAUTHENTICATED', details: null });
    },
  );

  it.each<[Record<string, string>, number, string]>([
    [{}, 401, 'API_KEY_REQUIRED'],
    [{ 'x-service-api-key': 'abcdefg' }, 401, 'API_KEY_MALFORMED'],
    [{ 'x-service-api-key': `abcdefg$${'x'.repeat(43)}` }, 403, 'API_KEY_INVALID'],
    [{ 'x-service-api-key': `abcdefg$${'x'.repeat(9_000)}` }, 401, 'API_KEY_MALFORMED'],
  ])('gets the code for its API key %#', async (headers, status, code) => {
    const response = await fetchWhenAvailable(`${service.url}/external/api/v1/call-campaign`, { headers });
    expect(response.status).toBe(status);
    expect(await problemOf(response)).toMatchObject({ code });
  });

  it('cannot put or get an object without a signature, or with one for another method or key', async () => {
    const { data } = await client.call<{ data: { metadata_upload_url: string } }>('POST', UPLOAD, {
      metadata_filename: 'a.csv',
    });
    const url = data.metadata_upload_url;
    const altered = url.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const attempts: [string, string][] = [
      ['GET', url],
      ['PUT', altered],
      ['PUT', url.split('?')[0]!],
      ['PUT', url.replace('a.csv', 'b.csv')],
    ];
    for (const [method, target] of attempts) {
      const response = await fetchWhenAvailable(target, { method, ...(method === 'PUT' && { body: 'x' }) });
      expect([target, response.status]).toEqual([target, 403]);
      // A separate store has its own error responses.
      const isOurs = target.startsWith(`${service.url}/`);
      if (isOurs) expect(await problemOf(response)).toMatchObject({ code: 'FORBIDDEN' });
    }
  });
});

describe('bytes that are not HTTP', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['a head of 100 KB', `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    [
      'two lengths',
      'POST /api/v1/calls/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
      400,
    ],
    ['a tunnel', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', 405],
    ['a method of its own', 'BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ])('get an error response: %s', async (_, bytes, status) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    // The connection may be reset after the response.
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end(bytes);
    await closed;
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [first = '', ...lines] = head.split('\r\n');
    expect(first).toContain(`HTTP/1.1 ${status} `);
    const headers = new Headers(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]));
    await problemOf({ status, headers, text: async () => body });
  });

  it('leave the service ready and its log without errors', async () => {
    expect((await ask('GET', '/readyz')).status).toBe(200);
    expect(service.stderr()).toBe('');
  });
});
