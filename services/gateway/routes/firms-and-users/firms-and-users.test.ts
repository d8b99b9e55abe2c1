import { Fault } from '@call-analysis/fault';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, user } from '../../test/fixture.ts';

const settings = {
  uuid: firm.uuid,
  name: 'Firm',
  country: 'UZ',
  segment_types: ['Sales'],
  language: 'en',
  time_zone: 'Asia/Tashkent',
  redaction: 'none',
  retention: { audio_days: 90 },
};
const answered = {
  ...settings,
  retention: { audio_days: 90, transcript_days: null, calls_days: null },
  storage: { used_bytes: 1234, quota_bytes: null },
};
const person = {
  uuid: user,
  firm_uuid: firm.uuid,
  name: 'Aziza',
  role: 'ADMIN',
  web_api_only: false,
  operator_ids: [],
  created_at: '2026-10-01T04:00:00.000Z',
};
const shown = {
  uuid: user,
  name: 'Aziza',
  role: 'ADMIN',
  operator_ids: [],
  is_api_user: false,
  created_at: person.created_at,
};
const actor = { user_uuid: user, firm_uuid: firm.uuid, role: 'ADMIN', address: expect.any(String) };

let edge: Fixture;
let asked: unknown;
beforeAll(async () => {
  edge = await openFixture({ publicUrl: 'https://calls.example.com/app' });
});
afterAll(() => edge.close());
beforeEach(() => {
  asked = undefined;
  edge.calls.getStorage = async () => ({ used_bytes: 1234 });
  edge.keys.findFirm = async () => ({ firm: settings });
  edge.keys.updateFirm = async (request) => {
    asked = request;
    return settings;
  };
});

describe('the firm', () => {
  it.each(['ADMIN', 'SUPERUSER', 'WORKFLOW_ENGINEER'] as const)('is shown to a user with the role %s', async (role) => {
    const response = await edge.request('GET', '/api/v1/firm', { role });
    expect([response.status, response.body]).toEqual([200, answered]);
  });

  it('changes only in the named fields; null removes a limit', async () => {
    const json = { segment_types: [' Sales '], retention: { audio_days: 30, calls_days: null } };
    const response = await edge.request('PATCH', '/api/v1/firm', { json });
    expect([response.status, response.body]).toEqual([200, answered]);
    expect(asked).toMatchObject({
      actor,
      firm_uuid: firm.uuid,
      segment_types: { names: ['Sales'] },
      retention: { audio_days: 30, calls_days: 0 },
    });
    for (const absent of ['name', 'language', 'time_zone', 'redaction']) expect(asked).not.toHaveProperty([absent]);
    expect((asked as { retention: object }).retention).not.toHaveProperty('transcript_days');
  });

  it.each(['SUPERUSER', 'WORKFLOW_ENGINEER'] as const)('is not changed by a user with the role %s', async (role) => {
    const response = await edge.request('PATCH', '/api/v1/firm', { role, json: { language: 'ru' } });
    expect([response.status, response.body['code'], asked]).toEqual([403, 'FORBIDDEN', undefined]);
  });

  it('names all faults of a change together', async () => {
    const json = {
      name: ' ',
      language: 'de',
      time_zone: '+05:00',
      redaction: 'all',
      segment_types: ['Sales', 'Sales'],
      retention: { audio_days: 0, transcript_days: 36_501, calls_days: 1.5 },
    };
    const { status, body } = await edge.request('PATCH', '/api/v1/firm', { json });
    const { fields } = body['details'] as { fields: { field: string }[] };
    expect([status, fields.map(({ field }) => field).sort()]).toEqual([
      400,
      [
        'language',
        'name',
        'redaction',
        'retention.audio_days',
        'retention.calls_days',
        'retention.transcript_days',
        'segment_types',
        'time_zone',
      ],
    ]);
    for (const readOnly of [{ storage: {} }, { country: 'KG' }, { uuid: firm.uuid }]) {
      expect((await edge.request('PATCH', '/api/v1/firm', { json: readOnly })).status).toBe(400);
    }
    expect(asked).toBeUndefined();
  });
});

describe('users', () => {
  const record =
    <Reply>(reply: Reply) =>
    async (request: unknown) => {
      asked = request;
      return reply;
    };

  it('are listed by page, with the API user', async () => {
    edge.keys.listUsers = record({ count: 12, users: [person, { ...person, web_api_only: true }] });
    const response = await edge.request('GET', '/api/v1/users?page=2&size=5');
    expect(response.body).toEqual({ count: 12, items: [shown, { ...shown, is_api_user: true }] });
    expect(asked).toEqual({ firm_uuid: firm.uuid, page: 2, size: 5 });
  });

  it('are created, changed and removed by the caller, in the firm of the caller', async () => {
    edge.keys.createUser = record(person);
    const created = await edge.request('POST', '/api/v1/users', { json: { name: 'Aziza', role: 'ADMIN' } });
    expect([created.status, created.body]).toEqual([201, shown]);
    expect(asked).toMatchObject({ actor, firm_uuid: firm.uuid, name: 'Aziza', role: 'ADMIN' });
    edge.keys.changeUser = record(person);
    const changed = await edge.request('PATCH', `/api/v1/users/${user}`, { json: { name: 'Aziza' } });
    expect([changed.status, changed.body]).toEqual([200, shown]);
    expect(asked).toMatchObject({ actor, user_uuid: user, name: 'Aziza' });
    edge.keys.removeUser = record({ user: person, removed_at: person.created_at });
    expect((await edge.request('DELETE', `/api/v1/users/${user}`)).status).toBe(204);
    expect(asked).toMatchObject({ actor, user_uuid: user });
  });

  it('have operator ids, trimmed; a change without them keeps them, and an empty list removes them', async () => {
    const operator = { ...person, role: 'OPERATOR', operator_ids: ['17'] };
    edge.keys.createUser = record(operator);
    edge.keys.changeUser = record(operator);
    const json = { name: 'Aziza', role: 'OPERATOR', operator_ids: [' 17 '] };
    const created = await edge.request('POST', '/api/v1/users', { json });
    expect([created.status, created.body]).toEqual([201, { ...shown, role: 'OPERATOR', operator_ids: ['17'] }]);
    expect(asked).toMatchObject({ role: 'OPERATOR', operator_ids: ['17'] });
    for (const [change, ids] of [
      [{ name: 'Aziza' }, undefined],
      [{ operator_ids: [] }, { ids: [] }],
      [{ operator_ids: ['17', '18'] }, { ids: ['17', '18'] }],
    ] as const) {
      await edge.request('PATCH', `/api/v1/users/${user}`, { json: change });
      expect((asked as { operator_ids?: object }).operator_ids).toEqual(ids);
    }
  });

  it.each([
    [[' '], 'operator_ids.0', 'REQUIRED'],
    [['17', ''], 'operator_ids.1', 'REQUIRED'],
    [['17', '17 '], 'operator_ids', 'INVALID'],
    [['a'.repeat(256)], 'operator_ids.0', 'INVALID'],
    [Array.from({ length: 101 }, String), 'operator_ids', 'INVALID'],
    ['17', 'operator_ids', 'INVALID'],
  ])('are refused with the operator ids %j', async (operator_ids, field, code) => {
    for (const [method, path] of [
      ['POST', '/api/v1/users'],
      ['PATCH', `/api/v1/users/${user}`],
    ] as const) {
      const { status, body } = await edge.request(method, path, {
        json: { name: 'A', role: 'OPERATOR', operator_ids },
      });
      expect([status, body]).toMatchObject([400, { details: { fields: [{ field, code }] } }]);
    }
  });

  it('get a link to the console under the public address of the service', async () => {
    edge.keys.createSignInCode = record({ code: 'secret', expires_at: person.created_at, user_uuid: user });
    const { status, body } = await edge.request('POST', `/api/v1/users/${user}/console-link`);
    const url = 'https://calls.example.com/app/console/#code=secret';
    expect([status, body]).toEqual([201, { url, expires_at: person.created_at }]);
    expect(asked).toMatchObject({ actor, user_uuid: user });
  });

  it('of another firm, unknown ones and invalid uuids are 404', async () => {
    edge.keys.findUser = async ({ user_uuid, firm_uuid }) => {
      if (firm_uuid === '') return { user: person };
      asked = { user_uuid, firm_uuid };
      return {};
    };
    const other = '3b9f6c1e-4a52-4d0e-9a77-5d1f0c2b8e64';
    expect((await edge.request('GET', `/api/v1/users/${other}`)).status).toBe(404);
    expect(asked).toEqual({ user_uuid: other, firm_uuid: firm.uuid });
    for (const [method, rest] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/console-link'],
    ] as const) {
      const options = method === 'PATCH' ? { json: {} } : {};
      const { status, body } = await edge.request(method, `/api/v1/users/nonsense${rest}`, options);
      expect([status, body['code']]).toEqual([404, 'NOT_FOUND']);
    }
  });

  it.each(['OWN_ACCOUNT', 'LAST_ADMIN', 'API_USER'])('are not removed with %s: 409', async (code) => {
    edge.keys.removeUser = async () => {
      throw new Fault('conflict', code, 'Refused.');
    };
    const { status, body } = await edge.request('DELETE', `/api/v1/users/${user}`);
    expect([status, body['code']]).toEqual([409, code]);
  });

  it('are not shown to a WORKFLOW_ENGINEER', async () => {
    for (const path of ['/api/v1/users', `/api/v1/users/${user}`]) {
      expect((await edge.request('GET', path, { role: 'WORKFLOW_ENGINEER' })).status).toBe(403);
    }
  });
});
