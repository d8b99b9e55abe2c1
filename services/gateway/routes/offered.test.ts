import { Fault } from '@call-analysis/fault';
import { Readiness } from '@call-analysis/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Backends, endpointsOf } from '../gateway.ts';
import { apiKey, everyKeyIs, firm, type Fixture, openFixture, user } from '../test/fixture.ts';

const uuid = '00000000-0000-4000-8000-0000000000c1';
const caller = { firm_uuid: firm.uuid, user_uuid: user };

let edge: Fixture;
beforeAll(async () => {
  edge = await openFixture();
});
afterAll(() => edge.close());

async function byKey(method: string, path: string, json?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(edge.url + path, {
    method,
    headers: {
      'x-service-api-key': apiKey,
      ...(json !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('what an integration needs', () => {
  const endpoints = endpointsOf({}, {} as Backends, new Readiness([]));
  const external = new Map(
    endpoints.filter(({ path }) => path.startsWith('/external/')).map((each) => [`${each.method} ${each.path}`, each]),
  );

  it.each([
    'GET /calls',
    'GET /calls/:uuid',
    'DELETE /calls/:uuid',
    'DELETE /calls',
    'POST /calls/upload',
    'POST /calls/process-upload',
    'GET /calls/batches/:batch_id',
    'GET /calls/rejected/:uuid',
    'PUT /calls/:uuid/review',
    'PATCH /calls/:uuid/review',
    'GET /calls/:uuid/review',
    'POST /calls/:uuid/comments',
    'POST /audio/upload',
    'POST /scorecards',
    'GET /statistics',
    'POST /webhooks',
    'GET /usage',
    'PUT /budget',
    'GET /jobs/:id',
  ])('%s is served with an API key, by the handler of the other path', (operation) => {
    const [method, path] = operation.split(' ');
    const same = endpoints.find((each) => each.method === method && each.path === `/api/v1${path}`);
    const found = external.get(`${method} /external/api/v1${path}`);
    expect(found?.credentials).toBe('api-key');
    expect(found?.handle).toBe(same?.handle);
    expect(found?.roles ?? ['ADMIN']).toContain('ADMIN');
  });

  it('is of data and campaigns: nothing of people and of the firm itself is served with a key', () => {
    const things = [...external.values()].map(({ path }) => path.split('/')[4]);
    expect([...new Set(things)].sort()).toEqual([
      'api-key',
      'audio',
      'budget',
      'call-campaign',
      'calls',
      'jobs',
      'scorecards',
      'statistics',
      'usage',
      'webhooks',
    ]);
    const byKey = [...external.values()].filter(({ credentials }) => credentials === 'api-key');
    expect(byKey.map(({ path }) => path.split('/')[4])).not.toContain('api-key');
  });
});

it('a key reads the calls of its own firm, also where a user must be an ADMIN', async () => {
  edge.keys.verifyKeys = everyKeyIs('k1');
  const asked: unknown[] = [];
  edge.calls.listCalls = async (request) => {
    asked.push(request.caller);
    return { count: 0, items: [], next_cursor: undefined, count_is_estimate: false } as never;
  };
  expect(await byKey('GET', '/external/api/v1/calls?status=completed')).toMatchObject({
    status: 200,
    body: { count: 0 },
  });
  expect(asked).toMatchObject([caller]);
});

it("another firm's key gets 404 for a call, as for one that does not exist", async () => {
  const other = { firm_uuid: '2a2b3c4d-0000-4000-8000-000000000001', user_uuid: user };
  edge.keys.verifyKeys = async ({ api_keys }) => ({
    verdicts: api_keys.map(() => ({ verdict: 'VALID', key_uuid: 'k2', ...other })),
  });
  edge.apiKeys.markDeleted('k1');
  edge.calls.getCall = async (request) => {
    if (request.caller?.firm_uuid === firm.uuid) throw new Error('it was read as the firm');
    throw new Fault('not-found', 'NOT_FOUND', 'Your firm has no such call.');
  };
  // Another key, whose verdict is not cached.
  const headers = { 'x-service-api-key': apiKey.replace('1a2b3c4', '2a2b3c4') };
  const answer = await byKey('GET', `/external/api/v1/calls/${uuid}`, undefined, headers);
  expect(answer).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
});

it('a bearer token is no API key, and an API key is no bearer token', async () => {
  const token = await edge.request('GET', '/external/api/v1/calls');
  expect([token.status, token.body['code']]).toEqual([401, 'API_KEY_REQUIRED']);
  expect(await byKey('GET', '/api/v1/calls')).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
});

it('the URL of refused rows is one that the same credentials open', async () => {
  edge.keys.verifyKeys = everyKeyIs('k3');
  edge.calls.processUpload = async () => {
    const details = { rows: 1, valid: 0, invalid: 1, faults: [], faults_truncated: false, rejected_uuid: uuid };
    throw new Fault('invalid', 'VALIDATION_FAILED', 'A row is at fault.', { details });
  };
  const keys = { metadata_key: 'key' };
  const headers = { 'x-service-api-key': apiKey.replace('abc', 'xyz') };
  const external = await byKey('POST', '/external/api/v1/calls/process-upload', keys, headers);
  expect(external.body['details']).toMatchObject({
    rejected_csv_url: `${edge.url}/external/api/v1/calls/rejected/${uuid}`,
  });
  const internal = await edge.request('POST', '/api/v1/calls/process-upload', { json: keys });
  expect(internal.body['details']).toMatchObject({ rejected_csv_url: `${edge.url}/api/v1/calls/rejected/${uuid}` });
});
