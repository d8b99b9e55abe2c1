import { Fault, invalidFields, notFound } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { apiKey, rawExchange, everyKeyIs, firm, type Fixture, openFixture, tokenFor, user } from './test/fixture.ts';

const call = '00000000-0000-4000-8000-0000000000c1';

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

beforeEach(() => {
  for (const name of Object.keys(edge.calls)) Reflect.deleteProperty(edge.calls, name);
  edge.calls.listCalls = async () => ({ count: 0, items: [] });
});

describe('every response of 400 and above', () => {
  it.each([
    ['an unknown route', 'GET', '/nothing', {}, 404, 'NOT_FOUND'],
    ['a route in upper case', 'GET', '/API/v1/calls', {}, 404, 'NOT_FOUND'],
    ['a path that does not decode', 'GET', '/api/v1/calls/%zz', {}, 404, 'NOT_FOUND'],
    ['an invalid uuid', 'GET', '/api/v1/calls/1', {}, 404, 'NOT_FOUND'],
    ['another method', 'PATCH', '/api/v1/calls', {}, 405, 'METHOD_NOT_ALLOWED'],
    ['a method of another route', 'GET', '/api/v1/calls/upload', {}, 405, 'METHOD_NOT_ALLOWED'],
    ['an unknown query parameter', 'GET', '/api/v1/calls?limit=1', {}, 400, 'VALIDATION_ERROR'],
    ['a page out of range', 'GET', '/api/v1/calls?page=0', {}, 400, 'VALIDATION_ERROR'],
    ['no token', 'GET', '/api/v1/calls', { headers: { authorization: '' } }, 401, 'UNAUTHENTICATED'],
    ['a forged token', 'GET', '/api/v1/calls', { headers: { authorization: 'Bearer a.b.c' } }, 401, 'UNAUTHENTICATED'],
    ['another scheme', 'GET', '/api/v1/calls', { headers: { authorization: 'Basic abc' } }, 401, 'UNAUTHENTICATED'],
    ['a role too low', 'GET', '/external/api/v1/api-key', {}, 403, 'FORBIDDEN'],
    ['no API key', 'GET', '/external/api/v1/call-campaign', {}, 401, 'API_KEY_REQUIRED'],
    ['a body without type', 'POST', '/api/v1/calls/upload', { body: '{}' }, 400, 'INVALID_JSON'],
    ['an unsigned URL', 'PUT', '/objects/a', { body: 'x' }, 403, 'FORBIDDEN'],
  ] as const)(
    'for %s has the error shape, security headers and a request id',
    async (_, method, path, asked, status, code) => {
      const response = await edge.request(method, path, asked);
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(Object.keys(response.body)).toEqual(['status', 'code', 'message', 'details']);
      expect(response.body).toMatchObject({ status: 'error', code });
      expect(response.body['message']).toMatch(/\w.*\.$|is |must /);
      expect(response.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('x-powered-by')).toBeNull();
      expect(response.headers.get('www-authenticate')).toBe(code === 'UNAUTHENTICATED' ? 'Bearer' : null);
      expect(response.headers.has('allow')).toBe(status === 405);
    },
  );

  it.each([
    ['EMPTY_FILE', new Fault('invalid', 'EMPTY_FILE', 'Nothing.', { details: { row: 1 } }), 400, null],
    ['VALIDATION_ERROR', invalidFields([{ field: 'a', code: 'INVALID', message: 'is bad' }]), 400, null],
    ['FORBIDDEN', new Fault('forbidden', 'FORBIDDEN', 'No.'), 403, null],
    ['NOT_FOUND', notFound('call'), 404, null],
    ['NOT_RETRYABLE', new Fault('conflict', 'NOT_RETRYABLE', 'No.'), 409, null],
    ['RATE_LIMITED', new Fault('rate-limited', 'RATE_LIMITED', 'Slow.'), 429, '1'],
    ['UNAVAILABLE', new Fault('unavailable', 'UNAVAILABLE', 'Later.'), 503, '1'],
    ['INSUFFICIENT_STORAGE', new Fault('unavailable', 'INSUFFICIENT_STORAGE', 'Full.'), 503, '1'],
  ])('forwards an error of a backend: %s', async (_, fault, status, retryAfter) => {
    edge.calls.listCalls = async () => {
      throw fault;
    };
    const response = await edge.request('GET', '/api/v1/calls');
    expect(response.status).toBe(status);
    const { code, message, details } = fault;
    expect(response.body).toEqual({ status: 'error', code, message, details });
    expect(response.headers.get('retry-after')).toBe(retryAfter);
  });

  it('contains only the request id of an unexpected error, which the log has in full', async () => {
    edge.calls.listCalls = async () => ({ count: 1, items: [null as never] });
    const response = await edge.request('GET', '/api/v1/calls', { headers: { 'x-request-id': 'bug-1' } });
    expect(response.status).toBe(500);
    expect(response.body).toEqual({
      status: 'error',
      code: 'INTERNAL',
      message: expect.stringContaining('bug-1'),
      details: null,
    });
    const lines = () => edge.log.filter((line) => line['request_id'] === 'bug-1');
    await waitUntil(() => lines().some((line) => line['route'] !== undefined));
    expect(lines()).toContainEqual(expect.objectContaining({ status: 500, route: '/api/v1/calls' }));
  });

  it('is UNAVAILABLE when a backend does not answer in time', async () => {
    const impatient = await openFixture({ deadlineMs: 100 });
    try {
      impatient.calls.listCalls = () => new Promise(() => {});
      const response = await impatient.request('GET', '/api/v1/calls');
      expect(response.status).toBe(503);
      expect(response.body).toMatchObject({
        code: 'UNAVAILABLE',
        message: 'ingest does not answer. Try again shortly.',
      });
      expect(response.headers.get('retry-after')).toBe('1');
    } finally {
      await impatient.close();
    }
  });
});

describe('request ids', () => {
  it('are echoed when they are valid', async () => {
    const response = await edge.request('GET', '/api/v1/calls', { headers: { 'x-request-id': 'A-b.c_1' } });
    expect([response.status, response.headers.get('x-request-id')]).toEqual([200, 'A-b.c_1']);
  });

  it.each(['a b', 'x'.repeat(129), '{"a":1}', 'é'])('are generated instead of %j', async (given) => {
    const response = await edge.request('GET', '/healthz', { headers: { 'x-request-id': given } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('methods', () => {
  it('are listed by OPTIONS and 405', async () => {
    const options = await edge.request('OPTIONS', '/api/v1/calls');
    expect([options.status, options.headers.get('allow'), options.text]).toEqual([
      204,
      'GET, HEAD, DELETE, OPTIONS',
      '',
    ]);
    const wrong = await edge.request('DELETE', '/external/api/v1/api-key');
    expect(wrong.headers.get('allow')).toBe('POST, GET, HEAD, OPTIONS');
    const objects = await edge.request('POST', '/objects/a/b');
    expect(objects.headers.get('allow')).toBe('PUT, GET, HEAD, OPTIONS');
  });

  it('HEAD returns the same as GET, without the body', async () => {
    const get = await edge.request('GET', '/api/v1/calls');
    const head = await edge.request('HEAD', '/api/v1/calls');
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    const refused = await edge.request('HEAD', '/api/v1/calls/1');
    expect([refused.status, refused.text]).toEqual([404, '']);
  });
});

describe('JSON bodies', () => {
  const path = '/api/v1/calls/upload';
  const json = { 'content-type': 'application/json' };

  it.each([
    ['invalid JSON', '{"a":', json],
    ['nothing', '', json],
    ['a list', '[]', json],
    ['null', 'null', json],
    ['a string', '"a"', json],
    ['nesting a million deep', '['.repeat(1_000_000), json],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), json],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['another charset', '{}', { 'content-type': 'application/json; charset=windows-1251' }],
    ['compression', '{}', { ...json, 'content-encoding': 'gzip' }],
  ])('of %s are refused as INVALID_JSON', async (_, body, headers) => {
    const response = await edge.request('POST', path, { body, headers });
    expect([response.status, response.body['code']]).toEqual([400, 'INVALID_JSON']);
  });

  it.each([
    ['deep inside a field', `{"metadata_filename":${'['.repeat(400_000)}${']'.repeat(400_000)}}`],
    ['in __proto__', '{"__proto__":{"metadata_filename":"a.csv"}}'],
    ['in a lone surrogate', '{"metadata_filename":"\\ud800.csv"}'],
    ['in a NUL', '{"metadata_filename":"\\u0000.csv"}'],
  ])('with an attack %s are refused as VALIDATION_ERROR', async (_, body) => {
    const response = await edge.request('POST', path, { body, headers: json });
    expect([response.status, response.body['code']]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('may declare their charset and begin with a byte order mark', async () => {
    const body = '\ufeff{"metadata_filename":"a.txt"}';
    const response = await edge.request('POST', path, {
      body,
      headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
    });
    expect(response.body['code']).toBe('VALIDATION_ERROR');
  });

  it('of 1 MiB are accepted, one byte more is refused', async () => {
    const filled = (size: number) => `{"metadata_filename":"${'a'.repeat(size - 24)}"}`;
    expect(filled(1_048_576)).toHaveLength(1_048_576);
    const full = await edge.request('POST', path, { body: filled(1_048_576), headers: json });
    expect(full.body['code']).toBe('VALIDATION_ERROR');
    const over = await edge.request('POST', path, { body: filled(1_048_577), headers: json });
    expect([over.status, over.body['code']]).toEqual([413, 'BODY_TOO_LARGE']);
  });
});

describe('endpoints without a body', () => {
  const json = { 'content-type': 'application/json' };
  const addresses = [
    ['POST', `/api/v1/scorecards/${call}/activate`],
    ['POST', `/external/api/v1/call-campaign/${call}/start`],
    ['POST', `/api/v1/calls/${call}/retry`],
    ['DELETE', `/api/v1/calls/${call}`],
  ] as const;
  let begun: string[] = [];

  beforeEach(() => {
    begun = [];
    const refuse = (name: string) => async () => {
      begun.push(name);
      throw notFound('thing');
    };
    edge.keys.verifyKeys = everyKeyIs('k');
    Object.assign(edge.scorecards, { activateScorecard: refuse('activate') });
    Object.assign(edge.calls, { moveCampaign: refuse('move'), retryCall: refuse('retry'), eraseCall: refuse('erase') });
  });

  const send = (method: string, path: string, body: string, headers: Record<string, string> = json) =>
    edge.request(method, path, { body, headers: { 'x-service-api-key': apiKey, ...headers } });

  it.each(addresses)('refuse a field by name and do nothing: %s %s', async (method, path) => {
    const response = await send(method, path, '{"revision":1}');
    expect([response.status, response.body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    expect(response.body['details']).toEqual({
      fields: [{ field: 'revision', code: 'UNKNOWN_FIELD', message: 'is not known; no fields are accepted here' }],
    });
    expect(begun).toEqual([]);
  });

  it.each(addresses)('refuse a body that is not a JSON object and do nothing: %s %s', async (method, path) => {
    for (const [body, headers] of [
      ['{{{', json],
      ['[]', json],
      ['a=1', { 'content-type': 'text/plain' }],
    ] as const) {
      const response = await send(method, path, body, headers);
      expect([body, response.status, response.body['code']]).toEqual([body, 400, 'INVALID_JSON']);
    }
    expect(begun).toEqual([]);
  });

  it.each(addresses)('accept no body and an empty object: %s %s', async (method, path) => {
    expect((await edge.request(method, path, { headers: { 'x-service-api-key': apiKey } })).status).toBe(404);
    expect((await send(method, path, '{}')).status).toBe(404);
    expect(begun).toHaveLength(2);
  });

  it('accept an empty chunked body, and check one that is not empty', async () => {
    const chunked = (type: string, chunks: string) =>
      rawExchange(edge.url, (socket) =>
        socket.write(
          [
            `DELETE /api/v1/calls/${call} HTTP/1.1`,
            'Host: x',
            `Authorization: Bearer ${tokenFor('ADMIN')}`,
            `${type}Transfer-Encoding: chunked`,
            'Connection: close',
            '',
            `${chunks}0\r\n\r\n`,
          ].join('\r\n'),
        ),
      );
    expect(await chunked('', '')).toMatch(/^HTTP\/1.1 404 /);
    expect(await chunked('Content-Type: application/json\r\n', '2\r\n{}\r\n')).toMatch(/^HTTP\/1.1 404 /);
    expect(begun).toEqual(['erase', 'erase']);
    expect(await chunked('Content-Type: application/json\r\n', '7\r\n{"a":1}\r\n')).toMatch(
      /^HTTP\/1.1 400 [^]*"field":"a"/,
    );
    expect(await chunked('', '2\r\n{}\r\n')).toMatch(/^HTTP\/1.1 400 [^]*INVALID_JSON/);
    expect(begun).toHaveLength(2);
  });

  it('authenticate the caller before they read the body', async () => {
    const response = await send('DELETE', `/api/v1/calls/${call}`, '{{{', { ...json, authorization: '' });
    expect([response.status, response.body['code']]).toEqual([401, 'UNAUTHENTICATED']);
  });
});

describe('a bearer token', () => {
  const ask = (authorization: string) => edge.request('GET', '/api/v1/calls', { headers: { authorization } });

  it('may have the scheme in any case', async () => {
    expect((await ask(`bEARER ${tokenFor('ADMIN')}`)).status).toBe(200);
  });

  it('must belong to a user of key-management in the firm of the token', async () => {
    const unknownUser = await ask(`Bearer ${tokenFor('ADMIN', { sub: '1a2b3c4d-0000-4000-8000-00000000000b' })}`);
    const otherFirm = await ask(`Bearer ${tokenFor('ADMIN', { firm: '1a2b3c4d-0000-4000-8000-000000000002' })}`);
    expect([unknownUser.status, otherFirm.status]).toEqual([401, 401]);
    expect(unknownUser.body).toEqual(otherFirm.body);
  });

  it('determines the firm and user of the request', async () => {
    let seen: unknown;
    edge.calls.listCalls = async ({ caller }) => {
      seen = caller;
      return { count: 0, items: [] };
    };
    await edge.request('GET', '/api/v1/calls');
    expect(seen).toEqual({ firm_uuid: firm.uuid, user_uuid: user, reads_json: true });
  });

  it('may be sent in one Authorization header, not several', async () => {
    const line = `Authorization: Bearer ${tokenFor('ADMIN')}\r\n`;
    const response = await rawExchange(edge.url, (socket) =>
      socket.end(`GET /api/v1/calls HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}${line}\r\n`),
    );
    expect(response).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe('while key-management is unavailable', () => {
  it('every request is refused with advice to try again', async () => {
    const alone = await openFixture();
    await alone.stopKeyManagement();
    const bearer = await alone.request('GET', '/api/v1/calls');
    const key = await alone.request('GET', '/external/api/v1/call-campaign', {
      headers: { 'x-service-api-key': apiKey },
    });
    const ready = await alone.request('GET', '/readyz');
    for (const response of [bearer, key, ready]) {
      expect(response.status).toBe(503);
      expect(response.body).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('key-management') });
      expect(response.headers.get('retry-after')).toBe('1');
    }
    expect((await alone.request('GET', '/healthz')).status).toBe(200);
    await alone.close();
  });
});

describe('the log', () => {
  it('has one line for a request, with its route and caller, and no secrets', async () => {
    edge.keys.verifyKeys = everyKeyIs('k');
    edge.calls.listCampaigns = async () => ({ count: 0, items: [] });
    // The line is written after the response, which the client may receive first.
    const lines = (count: number) => waitUntil(() => edge.log.length >= count);
    await edge.request('GET', '/healthz', { headers: { 'x-request-id': 'before' } });
    await waitUntil(() => edge.log.some((line) => line['request_id'] === 'before'));
    edge.log.length = 0;
    const token = tokenFor('ADMIN');
    await edge.request('GET', `/api/v1/calls/${call}?x=canary-query`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await lines(1);
    await edge.request('GET', '/external/api/v1/call-campaign', { headers: { 'x-service-api-key': apiKey } });
    await lines(2);
    await edge.request('POST', '/api/v1/calls/upload', { json: { metadata_filename: 'canary-body' } });
    await lines(3);
    const signed = await edge.objects.presignGet('canary/key', { expiresInSeconds: 3600 });
    await edge.request('GET', signed);
    await lines(4);
    expect(edge.log).toHaveLength(4);
    expect(edge.log[0]).toMatchObject({
      level: 'info',
      method: 'GET',
      route: '/api/v1/calls/:uuid',
      status: 400,
      ms: expect.any(Number),
      request_id: expect.any(String),
      firm_uuid: firm.uuid,
      user_uuid: user,
    });
    expect(edge.log[3]).toMatchObject({ route: '/objects/*key', status: 404 });
    const log = JSON.stringify(edge.log);
    for (const canary of ['canary', token, apiKey, 'signature']) expect(log).not.toContain(canary);
  });
});
