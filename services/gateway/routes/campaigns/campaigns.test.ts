import { Fault, notFound } from '@call-analysis/fault';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { apiKey, everyKeyIs, firm, type Fixture, openFixture, user } from '../../test/fixture.ts';

const path = '/external/api/v1/call-campaign';
const headers = { 'x-service-api-key': apiKey };
const uuid = '019a4f3e-5555-7000-8000-000000000001';
const callUuid = '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301';
const caller = { firm_uuid: firm.uuid, user_uuid: user };
/** Audited actions include the client's address. */
const actor = { ...caller, address: '127.0.0.1' };

const shown = {
  uuid,
  name: 'Spring',
  external_id: null,
  description: null,
  status: 'draft',
  segment_type: null,
  starts_at: null,
  ends_at: null,
  created_at: '2026-10-01T18:00:00.000Z',
  updated_at: '2026-10-01T18:00:00.000Z',
  calls: { total: 0, by_status: {}, erased: 0 },
  average_score: null,
};

let edge: Fixture;
/** The requests that ingest received, by method. */
let asked: [string, unknown][];

function ask(method: string, rest: string, json?: unknown) {
  return edge.request(method, path + rest, { headers, ...(json !== undefined && { json }) });
}

beforeAll(async () => {
  edge = await openFixture({ keyTtlMs: 5000 });
  edge.keys.verifyKeys = everyKeyIs('k1');
});

beforeEach(() => {
  asked = [];
  const record =
    <Reply>(method: string, reply: Reply) =>
    async (request: unknown) => {
      asked.push([method, request]);
      return reply;
    };
  Object.assign(edge.calls, {
    createCampaign: record('create', shown),
    listCampaigns: record('list', { count: 1, items: [shown] }),
    getCampaign: record('get', shown),
    changeCampaign: record('change', shown),
    moveCampaign: record('move', shown),
    admitToCampaign: record('admit', {}),
    openUpload: record('open', { metadata_upload_url: '/put', metadata_key: 'k', expires_in: 3600 }),
    processUpload: record('process', { batch_uuid: 'b', accepted: 1, duplicates: 0, rejected: 0, ignored_columns: [] }),
    listCalls: record('calls', { count: 0, items: [], next_cursor: null }),
    getCall: record('call', { ...call, campaign_id: uuid, analyses: [], history: [], audio: null }),
  });
  edge.recordings.uploadRecording = async (pieces) => {
    const said: unknown[] = [];
    for await (const piece of pieces) said.push(piece);
    asked.push(['audio', said[0]]);
    return { audio_id: callUuid, ignored_fields: [] };
  };
});

const call = {
  uuid: callUuid,
  source: 'audio',
  status: 'queued',
  client_phone_number: '+998901234567',
  operator_name: 'Ann',
  segment_type: 'support',
  start_time: '2026-10-01T18:00:00.000Z',
  failure: null,
  created_at: '2026-10-01T18:00:00.000Z',
  updated_at: '2026-10-01T18:00:00.000Z',
};

afterAll(() => edge.close());

describe('an API key', () => {
  it('is required; a bearer token is refused', async () => {
    const response = await edge.request('GET', path);
    expect([response.status, response.body['code']]).toEqual([401, 'API_KEY_REQUIRED']);
    expect((await edge.request('GET', '/api/v1/calls', { headers: { ...headers, authorization: '' } })).status).toBe(
      401,
    );
  });

  it('that was deleted is refused even when it was cached', async () => {
    const other = await openFixture({ keyTtlMs: 5000 });
    try {
      other.keys.verifyKeys = everyKeyIs('k2');
      other.calls.listCampaigns = async () => ({ count: 0, items: [] });
      expect((await other.request('GET', path, { headers })).status).toBe(200);
      other.apiKeys.markDeleted('k2');
      const response = await other.request('GET', path, { headers });
      expect([response.status, response.body['code']]).toEqual([403, 'API_KEY_INVALID']);
    } finally {
      await other.close();
    }
  });
});

describe('creating a campaign', () => {
  it.each(['', '/'])('returns 201 at %j with every field, on behalf of the API user', async (slash) => {
    const response = await ask('POST', slash, { name: '  Spring ', starts_at: '2026-10-01T09:00:00+05:00' });
    expect([response.status, response.body]).toEqual([201, shown]);
    expect(asked).toMatchObject([['create', { caller: actor, name: 'Spring', starts_at: '2026-10-01T04:00:00.000Z' }]]);
  });

  it.each<[string, object, string]>([
    ['no name', {}, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a line break in its name', { name: 'a\nb' }, 'name'],
    ['a right-to-left override in its name', { name: 'a\u202eb' }, 'name'],
    ['a name of 256 characters', { name: 'x'.repeat(256) }, 'name'],
    ['null where nothing is to clear', { name: 'x', description: null }, 'description'],
    ['a date without an offset', { name: 'x', starts_at: '2026-10-01T09:00:00' }, 'starts_at'],
    ['a date that is none', { name: 'x', ends_at: '2026-02-30T09:00:00Z' }, 'ends_at'],
    ['a date in the year 0', { name: 'x', ends_at: '0001-01-01T00:00:00+23:00' }, 'ends_at'],
    ['a status', { name: 'x', status: 'active' }, 'status'],
  ])('refuses %s and names the field', async (_what, body, field) => {
    const response = await ask('POST', '', body);
    expect([response.status, response.body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    expect(JSON.stringify(response.body['details'])).toContain(`"field":"${field}"`);
    expect(asked).toEqual([]);
  });

  it.each(['', ' \u00a0'])('requires text in an external_id that is sent: %j', async (external_id) => {
    const response = await ask('POST', '', { name: 'x', external_id });
    expect([response.status, response.body['details']]).toMatchObject([
      400,
      { fields: [{ field: 'external_id', code: 'REQUIRED' }] },
    ]);
    expect(asked).toEqual([]);
  });

  it('suggests the nearest name for an unknown field', async () => {
    const response = await ask('POST', '', { name: 'x', externalid: 'y' });
    expect(response.body['message']).toContain('external_id');
  });
});

describe('listing campaigns', () => {
  it('forwards the filters', async () => {
    const response = await ask('GET', '/?page=3&size=1&status=draft&status=active&external_id=x');
    expect([response.status, response.body]).toEqual([200, { count: 1, items: [shown] }]);
    expect(asked).toMatchObject([
      ['list', { caller, page: 3, size: 1, status: ['draft', 'active'], external_id: 'x' }],
    ]);
  });

  it.each(['?page=0', '?status=new', '?external_id=', '?name=x'])('refuses %s', async (query) => {
    expect((await ask('GET', query)).status).toBe(400);
  });
});

describe('one campaign', () => {
  it('is returned, also with a trailing slash', async () => {
    for (const rest of [`/${uuid}`, `/${uuid}/`]) expect((await ask('GET', rest)).body).toEqual(shown);
  });

  it('is 404 for an invalid uuid', async () => {
    for (const rest of ['/x', '/x/calls', `/x/calls/${callUuid}`]) expect((await ask('GET', rest)).status).toBe(404);
    expect((await ask('POST', '/x/start')).status).toBe(404);
    expect(asked).toEqual([]);
  });

  it('is changed only in the fields that were sent; null clears', async () => {
    expect((await ask('PATCH', `/${uuid}`, { description: null, ends_at: '2026-10-02T00:00:00Z' })).status).toBe(200);
    const request = asked[0]![1];
    expect(request).toMatchObject({
      caller,
      campaign_uuid: uuid,
      ends_at: '2026-10-02T00:00:00.000Z',
      clear: ['description'],
    });
    expect(request).not.toHaveProperty('name');
    expect(request).not.toHaveProperty('description');
  });

  it.each([{ segment_type: 'sales' }, { external_id: 'x' }, { external_id: null }])(
    'reports that %j cannot be changed',
    async (body) => {
      const [field] = Object.keys(body);
      expect((await ask('PATCH', `/${uuid}`, body)).body['details']).toEqual({
        fields: [{ field, code: 'INVALID', message: 'cannot be changed after creation' }],
      });
      expect(asked).toEqual([]);
    },
  );

  it.each([{ name: null }, { segment_type: 'sales' }, { external_id: 'x' }, { status: 'active' }])(
    'is not changed by %j',
    async (body) => {
      expect((await ask('PATCH', `/${uuid}`, body)).body['code']).toBe('VALIDATION_ERROR');
    },
  );

  it.each(['start', 'pause', 'complete', 'cancel'])('accepts the action %s', async (action) => {
    expect((await ask('POST', `/${uuid}/${action}`)).status).toBe(200);
    expect(asked).toMatchObject([['move', { caller: actor, campaign_uuid: uuid, action }]]);
  });

  it('accepts no other action, and returns the methods of an action', async () => {
    expect((await ask('POST', `/${uuid}/resume`)).status).toBe(404);
    const response = await ask('GET', `/${uuid}/start`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  it('returns 409 with the possible actions', async () => {
    edge.calls.moveCampaign = async () => {
      throw new Fault('conflict', 'INVALID_TRANSITION', 'No.', { details: { allowed: ['start', 'cancel'] } });
    };
    const response = await ask('POST', `/${uuid}/pause`);
    expect([response.status, response.body['code'], response.body['details']]).toEqual([
      409,
      'INVALID_TRANSITION',
      { allowed: ['start', 'cancel'] },
    ]);
  });
});

describe('calls of a campaign', () => {
  it('are uploaded with its uuid', async () => {
    const opened = await ask('POST', `/${uuid}/calls/upload`, { metadata_filename: 'a.csv' });
    expect(opened.body).toMatchObject({
      status: 'success',
      data: { metadata_key: 'k', metadata_upload_url: `${edge.url}/put` },
    });
    const processed = await ask('POST', `/${uuid}/calls/process-upload/`, { metadata_key: 'k' });
    expect([processed.status, processed.body['status']]).toEqual([200, 'success']);
    expect(asked).toMatchObject([
      ['open', { caller, campaign_uuid: uuid, metadata_filename: 'a.csv' }],
      ['process', { caller, campaign_uuid: uuid, metadata_key: 'k', on_error: 'reject' }],
    ]);
  });

  it('that were refused can be downloaded with an API key', async () => {
    edge.calls.processUpload = async () => {
      throw new Fault('invalid', 'VALIDATION_FAILED', '1 row is at fault.', { details: { rejected_uuid: uuid } });
    };
    edge.calls.downloadRejected = async function* ({ rejected_uuid, caller: who }) {
      if (rejected_uuid !== uuid || who?.firm_uuid !== firm.uuid) throw notFound('file of refused rows');
      yield { data: Buffer.from('a,reject_reason\n') };
    };
    const refused = await ask('POST', `/${uuid}/calls/process-upload`, { metadata_key: 'k' });
    const url = (refused.body['details'] as { rejected_csv_url: string }).rejected_csv_url;
    expect(url).toBe(`${edge.url}${path}/rejected/${uuid}`);
    const file = await fetch(url, { headers });
    expect([file.status, await file.text()]).toEqual([200, 'a,reject_reason\n']);
    expect((await fetch(url)).status).toBe(401);
  });

  it('are uploaded as recordings, of which no byte is forwarded when the campaign is not active', async () => {
    const send = () => {
      const form = new FormData();
      form.append('metadata', '{}');
      form.append('audio_file', new Blob(['RIFF']), 'a.wav');
      return fetch(`${edge.url}${path}/${uuid}/audio/upload`, { method: 'POST', headers, body: form });
    };
    const taken = await send();
    expect([taken.status, await taken.json()]).toMatchObject([200, { status: 'ok', audio_id: callUuid }]);
    expect(asked).toMatchObject([
      ['admit', { caller, campaign_uuid: uuid }],
      ['audio', { uploader: { ...caller, campaign_uuid: uuid } }],
    ]);

    edge.calls.admitToCampaign = async () => {
      throw new Fault('conflict', 'INVALID_TRANSITION', 'It is paused.', { details: { allowed: ['start'] } });
    };
    expect((await send()).status).toBe(409);
    expect(asked).toHaveLength(2);
  });

  it('are listed and read within the campaign', async () => {
    const listed = await ask('GET', `/${uuid}/calls?status=queued&size=5`);
    expect(listed.body).toMatchObject({ count: 0, items: [], next_cursor: null });
    const one = await ask('GET', `/${uuid}/calls/${callUuid}`);
    expect([one.status, one.body['campaign_id']]).toEqual([200, uuid]);
    expect(asked).toMatchObject([
      ['get', { caller, campaign_uuid: uuid }],
      [
        'calls',
        { caller, filter_json: expect.stringMatching(`"status":\\["queued"\\].*"campaign":"${uuid}"`), size: 5 },
      ],
      ['call', { caller, campaign_uuid: uuid, call_uuid: callUuid }],
    ]);
  });

  it('of an unknown campaign are 404, not an empty list', async () => {
    edge.calls.getCampaign = async () => {
      throw notFound('campaign');
    };
    expect((await ask('GET', `/${uuid}/calls`)).status).toBe(404);
  });
});
