import { Fault, notFound } from '@call-analysis/fault';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, user } from '../test/fixture.ts';

const path = '/external/api/v1/api-key';
const keyUuid = '00000000-0000-4000-8000-0000000000a1';
const actor = { user_uuid: user, firm_uuid: firm.uuid, address: '127.0.0.1' };

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

describe('creating an API key', () => {
  it('returns 201 with the key, its prefix and the firm', async () => {
    let asked: unknown;
    edge.keys.createKey = async (request) => {
      asked = request;
      return { api_key: '1a2b3c4$x', key_prefix: '1a2b3c4', firm_uuid: firm.uuid, firm_name: firm.name };
    };
    const json = { firm_uuid: firm.uuid.toUpperCase() };
    const response = await edge.request('POST', path, { role: 'WORKFLOW_ENGINEER', json });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({ api_key: '1a2b3c4$x', key_prefix: '1a2b3c4', firm });
    expect(asked).toMatchObject({ actor: { ...actor, role: 'WORKFLOW_ENGINEER' }, firm_uuid: firm.uuid });
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('records the client address that a trusted proxy reports', async () => {
    const behindProxy = await openFixture({ trustedProxies: ['loopback'] });
    let asked: unknown;
    behindProxy.keys.createKey = async (request) => {
      asked = request;
      return { api_key: '1a2b3c4$x', key_prefix: '1a2b3c4', firm_uuid: firm.uuid, firm_name: firm.name };
    };
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    await behindProxy.request('POST', path, { role: 'SUPERUSER', json: { firm_uuid: firm.uuid }, headers });
    await behindProxy.close();
    expect(asked).toMatchObject({ actor: { address: '203.0.113.9' } });
  });

  it('is refused to an ADMIN before the body is read', async () => {
    const response = await edge.request('POST', path, { role: 'ADMIN', json: { firm_uuid: 'nonsense' } });
    expect([response.status, response.body['code']]).toEqual([403, 'FORBIDDEN']);
  });

  it.each([
    [{}, 'REQUIRED'],
    [{ firm_uuid: 'x' }, 'INVALID'],
    [{ firm_uuid: 1 }, 'INVALID'],
    [{ firm_uuid: null }, 'INVALID'],
  ])('refuses %j', async (json, code) => {
    const response = await edge.request('POST', path, { role: 'SUPERUSER', json });
    expect(response.status).toBe(400);
    expect(response.body['details']).toMatchObject({ fields: [{ field: 'firm_uuid', code }] });
  });

  it('is 409 while the firm has a key and 404 for an unknown firm', async () => {
    for (const [fault, status] of [
      [new Fault('conflict', 'KEY_EXISTS', 'There is one.'), 409],
      [notFound('firm'), 404],
    ] as const) {
      edge.keys.createKey = async () => {
        throw fault;
      };
      const response = await edge.request('POST', path, { role: 'SUPERUSER', json: { firm_uuid: firm.uuid } });
      expect([response.status, response.body['code']]).toEqual([status, fault.code]);
    }
  });
});

describe('replacing an API key', () => {
  it('needs no body: the old key then ends at once', async () => {
    const asked: unknown[] = [];
    edge.keys.rotateKey = async (request) => {
      asked.push(request);
      return { api_key: '1a2b3c4$x', key_prefix: '1a2b3c4', firm_uuid: firm.uuid, firm_name: firm.name };
    };
    for (const sent of [{}, { json: {} }, { json: { grace_seconds: 60 } }]) {
      const response = await edge.request('POST', `${path}/${keyUuid}/rotate`, { role: 'SUPERUSER', ...sent });
      expect(response.status).toBe(201);
    }
    expect(asked).toMatchObject([0, 0, 60].map((grace_seconds) => ({ key_uuid: keyUuid, grace_seconds })));
    const notJson = await edge.request('POST', `${path}/${keyUuid}/rotate`, { role: 'SUPERUSER', body: 'grace=60' });
    expect([notJson.status, notJson.body['code']]).toEqual([400, 'INVALID_JSON']);
  });
});

describe('listing API keys', () => {
  it('returns exactly the specified fields, with last_used null before the first use', async () => {
    let asked: unknown;
    edge.keys.listKeys = async (request) => {
      asked = request;
      const key = { uuid: keyUuid, key_prefix: '1a2b3c4', is_active: true, firm_uuid: firm.uuid, firm_name: firm.name };
      const created_at = '2026-01-01T00:00:00.000Z';
      return {
        count: 12,
        items: [
          { ...key, created_at },
          { ...key, created_at, last_used: created_at },
        ],
      };
    };
    const response = await edge.request('GET', `${path}?page=2&size=5`, { role: 'SUPERUSER' });
    const item = {
      uuid: keyUuid,
      key_prefix: '1a2b3c4',
      is_active: true,
      firm,
      created_at: '2026-01-01T00:00:00.000Z',
    };
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      count: 12,
      items: [
        { ...item, last_used: null },
        { ...item, last_used: '2026-01-01T00:00:00.000Z' },
      ],
    });
    expect(asked).toMatchObject({ actor: { ...actor, role: 'SUPERUSER' }, page: 2, size: 5 });
  });

  it('requires the role SUPERUSER', async () => {
    for (const role of ['ADMIN', 'WORKFLOW_ENGINEER'] as const) {
      expect((await edge.request('GET', path, { role })).status).toBe(403);
    }
  });
});

describe('deleting an API key', () => {
  it('returns 204 without a body', async () => {
    let asked: unknown;
    edge.keys.deleteKey = async (request) => {
      asked = request.key_uuid;
      return {};
    };
    const response = await edge.request('DELETE', `${path}/${keyUuid.toUpperCase()}`, { role: 'SUPERUSER' });
    expect([response.status, response.text, response.headers.get('content-length')]).toEqual([204, '', null]);
    expect(asked).toBe(keyUuid);
  });

  it('requires the role SUPERUSER, and is 404 for an unknown key', async () => {
    expect((await edge.request('DELETE', `${path}/${keyUuid}`, { role: 'WORKFLOW_ENGINEER' })).status).toBe(403);
    const unnamed = await edge.request('DELETE', `${path}/x`, { role: 'SUPERUSER' });
    // Keys of all firms are managed here.
    expect([unnamed.status, unnamed.body['message']]).toEqual([404, 'There is no such API key. Check the uuid.']);
    edge.keys.deleteKey = async () => {
      throw notFound('API key');
    };
    expect((await edge.request('DELETE', `${path}/${keyUuid}`, { role: 'SUPERUSER' })).status).toBe(404);
  });
});

it('only the staff of the named firms manages keys, if an installation names firms', async () => {
  const others = await openFixture({ platformFirms: ['1a2b3c4d-0000-4000-8000-000000000099'] });
  const ours = await openFixture({ platformFirms: [firm.uuid] });
  try {
    for (const [method, path, json] of [
      ['POST', '/external/api/v1/api-key', { firm_uuid: firm.uuid }],
      ['GET', '/external/api/v1/api-key', undefined],
      ['DELETE', `/external/api/v1/api-key/${firm.uuid}`, undefined],
      ['POST', `/external/api/v1/api-key/${firm.uuid}/rotate`, {}],
    ] as const) {
      const answer = await others.request(method, path, { role: 'SUPERUSER', json });
      expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    }
    ours.keys.listKeys = async () => ({ count: 0, items: [] });
    expect((await ours.request('GET', '/external/api/v1/api-key', { role: 'SUPERUSER' })).status).toBe(200);
  } finally {
    await Promise.all([others.close(), ours.close()]);
  }
});
