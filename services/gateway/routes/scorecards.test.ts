import { exampleDraft } from '@call-analysis/api/scorecards';
import { Utterance } from '@call-analysis/events';
import { Fault, invalidFields, notFound } from '@call-analysis/fault';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, user } from '../test/fixture.ts';

const path = '/api/v1/scorecards';
const uuid = '00000000-0000-4000-8000-0000000000c1';
const at = '2026-01-01T00:00:00.000Z';
const item = {
  uuid,
  name: 'Own',
  segment_type: null,
  is_active: false,
  revision: 3,
  created_at: at,
  updated_at: at,
};
const sections = [{ name: 'Only', questions: [] }];
const full = { ...item, sections };
const caller = { firm_uuid: firm.uuid, user_uuid: user, address: expect.any(String), reads_json: true };
const document = { name: 'Own', sections: [{ name: 'Only', any: ['thing', null] }] };

let edge: Fixture;
let asked: unknown;

beforeAll(async () => {
  edge = await openFixture();
});

beforeEach(() => {
  asked = undefined;
  const response = async (request: unknown) => {
    asked = request;
    return full as never;
  };
  Object.assign(edge.scorecards, {
    createScorecard: response,
    getScorecard: response,
    reviseScorecard: response,
    activateScorecard: response,
  } satisfies Fixture['scorecards']);
});

afterAll(() => edge.close());

const everyRoute = [
  ['GET', path],
  ['POST', path],
  ['GET', `${path}/${uuid}`],
  ['PUT', `${path}/${uuid}`],
  ['GET', `${path}/${uuid}/revisions`],
  ['POST', `${path}/${uuid}/activate`],
  ['POST', `${path}/${uuid}/try`],
] as const;

describe('trying a scorecard', () => {
  const call_uuids = [uuid, '00000000-0000-4000-8000-0000000000aa', '00000000-0000-4000-8000-0000000000ab'];
  const result = (score: number) => JSON.stringify({ scorecard: {}, score, auto_failed: false, sections: [] });

  it('shows what each call has and would have, and which cannot be tried', async () => {
    const tried: string[] = [];
    edge.scorecards.getScorecard = async () => ({ scorecard: null, sections_json: '[]' });
    edge.calls.getCall = async ({ call_uuid }) => {
      if (call_uuid === call_uuids[1]) throw notFound('call');
      const said = { index: 0, role: 'client', text: 'Hi', start: null, end: null, confidence: null, doubtful: false };
      const transcript = call_uuid === call_uuids[2] ? null : { utterances: [said] };
      const call = { uuid: call_uuid, operator_name: 'Ann', segment_type: 's', start_time: '2026-10-01T09:00:00Z' };
      return { ...call, duration: null, language: null, analyses: [JSON.parse(result(40))], transcript } as never;
    };
    edge.scorecards.tryScorecard = async ({ path: ids, json }) => {
      const { call, draft } = JSON.parse(json);
      expect(Utterance.parse(call.utterances[0])).toMatchObject({ text: 'Hi' });
      tried.push(`${ids[0]} ${call.call_uuid} ${JSON.stringify(draft)}`);
      return { json: Buffer.from(result(90)) };
    };
    const json = { call_uuids, draft: exampleDraft };
    const { status, body } = await edge.request('POST', `${path}/${uuid}/try`, { json });
    expect(status).toBe(200);
    expect(tried).toEqual([`${uuid} ${uuid} ${JSON.stringify(exampleDraft)}`]);
    expect(body['items']).toMatchObject([
      { call_uuid: uuid, operator_name: 'Ann', before: { score: 40 }, after: { score: 90 }, failure: null },
      { call_uuid: call_uuids[1], operator_name: null, before: null, after: null, failure: { code: 'NOT_FOUND' } },
      { call_uuid: call_uuids[2], before: { score: 40 }, after: null, failure: { code: 'NO_TRANSCRIPT' } },
    ]);
  });

  it('is refused without calls, with more than ten, and as a whole where the draft is wrong', async () => {
    for (const wrong of [[], Array.from({ length: 11 }, () => uuid), ['x']]) {
      const { status } = await edge.request('POST', `${path}/${uuid}/try`, { json: { call_uuids: wrong } });
      expect(status).toBe(400);
    }
    edge.scorecards.tryScorecard = async () => {
      throw invalidFields([{ field: 'sections', code: 'REQUIRED', message: 'is required' }]);
    };
    const json = { call_uuids: [uuid], draft: {} };
    const { status, body } = await edge.request('POST', `${path}/${uuid}/try`, { json });
    expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
  });
});

describe('every route', () => {
  it.each(everyRoute)('%s %s requires the role ADMIN', async (method, address) => {
    for (const role of ['SUPERUSER', 'WORKFLOW_ENGINEER'] as const) {
      const response = await edge.request(method, address, { role, ...(method !== 'GET' && { json: document }) });
      expect([response.status, response.body['code']]).toEqual([403, 'FORBIDDEN']);
    }
    expect(asked).toBeUndefined();
    const unauthenticated = await fetch(edge.url + address, { method });
    expect(unauthenticated.status).toBe(401);
  });

  it.each([
    ['GET', ''],
    ['PUT', ''],
    ['GET', '/revisions'],
    ['POST', '/activate'],
  ])('%s …/{uuid}%s is 404 for an invalid uuid and for a scorecard of another firm', async (method, rest) => {
    const options = { headers: { 'if-match': '"1"' }, ...(method === 'PUT' && { json: document }) };
    expect((await edge.request(method, `${path}/nonsense${rest}`, options)).status).toBe(404);
    const none = async () => {
      throw notFound('scorecard');
    };
    Object.assign(edge.scorecards, {
      getScorecard: none,
      reviseScorecard: none,
      activateScorecard: none,
      listRevisions: none,
    });
    const response = await edge.request(method, `${path}/${uuid}${rest}`, options);
    expect([response.status, response.body['code']]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('lists', () => {
  it('of scorecards have all fields, null without a segment type', async () => {
    edge.scorecards.listScorecards = async (request) => {
      asked = request;
      return { count: 12, items: [item, { ...item, segment_type: 'sales', is_active: true }] } as never;
    };
    const response = await edge.request('GET', `${path}?page=2&size=5`);
    expect(response.body).toEqual({ count: 12, items: [item, { ...item, segment_type: 'sales', is_active: true }] });
    expect(asked).toMatchObject({ caller, page: 2, size: 5 });
  });

  it('of revisions have their author, null for the service itself', async () => {
    edge.scorecards.listRevisions = async (request) => {
      asked = request;
      const revision = { revision: 2, name: 'Own', created_at: at };
      return {
        count: 2,
        items: [
          { ...revision, created_by: user },
          { ...revision, revision: 1, created_by: null },
        ],
      } as never;
    };
    const response = await edge.request('GET', `${path}/${uuid}/revisions`);
    expect(response.body).toEqual({
      count: 2,
      items: [
        { revision: 2, name: 'Own', created_at: at, created_by: user },
        { revision: 1, name: 'Own', created_at: at, created_by: null },
      ],
    });
    expect(asked).toMatchObject({ caller, scorecard_uuid: uuid, page: 1, size: 10 });
  });

  it('refuse pages out of range', async () => {
    expect((await edge.request('GET', `${path}?size=101`)).body['code']).toBe('VALIDATION_ERROR');
    expect((await edge.request('GET', `${path}/${uuid}/revisions?page=0`)).body['code']).toBe('VALIDATION_ERROR');
  });
});

describe('a scorecard', () => {
  it('is created with 201 and an ETag; the document is forwarded unchanged', async () => {
    const response = await edge.request('POST', path, { json: document });
    expect([response.status, response.body, response.headers.get('etag')]).toEqual([201, full, '"3"']);
    expect(asked).toEqual({ caller, document: JSON.stringify(document) });
  });

  it('is returned with its ETag, at its newest revision or another', async () => {
    const response = await edge.request('GET', `${path}/${uuid}`);
    expect([response.status, response.body, response.headers.get('etag')]).toEqual([200, full, '"3"']);
    expect(asked).toEqual({ caller, scorecard_uuid: uuid });
    await edge.request('GET', `${path}/${uuid}?revision=2`);
    expect(asked).toMatchObject({ scorecard_uuid: uuid, revision: 2 });
    for (const revision of ['0', '1.5', '-1', 'x', '99999999999']) {
      expect((await edge.request('GET', `${path}/${uuid}?revision=${revision}`)).status).toBe(400);
    }
  });

  it('is activated', async () => {
    const response = await edge.request('POST', `${path}/${uuid}/activate`);
    expect([response.status, response.body]).toEqual([200, full]);
    expect(asked).toEqual({ caller, scorecard_uuid: uuid });
  });

  it('reports every fault of its document', async () => {
    const fields = [{ field: 'sections.0.name', code: 'REQUIRED', message: 'is required' }];
    edge.scorecards.createScorecard = async () => {
      throw invalidFields(fields);
    };
    const response = await edge.request('POST', path, { json: document });
    expect([response.status, response.body['code'], response.body['details']]).toEqual([
      400,
      'VALIDATION_ERROR',
      { fields },
    ]);
  });

  it('may be up to a mebibyte of JSON', async () => {
    const json = { name: 'x'.repeat(1024 * 1024) };
    expect((await edge.request('POST', path, { json })).body['code']).toBe('BODY_TOO_LARGE');
  });
});

describe('a document', () => {
  it.each([
    ['that is nested without end', `{"name":${'['.repeat(400_000)}${']'.repeat(400_000)}}`],
    ['that is no object', '[]'],
    ['that is no JSON', '{'],
  ])('%s is refused', async (_what, body) => {
    const response = await edge.request('POST', path, { body, headers: { 'content-type': 'application/json' } });
    expect([response.status, response.body['code']]).toEqual([400, 'INVALID_JSON']);
    expect(asked).toBeUndefined();
  });
});

describe('a change', () => {
  const put = (ifMatch?: string) =>
    edge.request('PUT', `${path}/${uuid}`, {
      json: document,
      ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
    });

  it('names the revision that it was made to, and returns the new one with its ETag', async () => {
    const response = await put('"2"');
    expect([response.status, response.body, response.headers.get('etag')]).toEqual([200, full, '"3"']);
    expect(asked).toEqual({ caller, scorecard_uuid: uuid, expected_revision: 2, document: JSON.stringify(document) });
  });

  it.each(['2', '*', 'W/"2"', '"2", "3"', '"two"', ''])('is refused with If-Match: %s', async (ifMatch) => {
    const response = await put(ifMatch);
    expect([response.status, response.body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    const message = expect.stringMatching(/as returned in ETag; for example "1"$/);
    expect(response.body['details']).toMatchObject({ fields: [{ field: 'If-Match', code: 'INVALID', message }] });
    expect(asked).toBeUndefined();
  });

  it('is refused without If-Match, whoever made the newest revision', async () => {
    const response = await put(undefined);
    expect([response.status, response.body['code']]).toEqual([428, 'IF_MATCH_REQUIRED']);
    expect(asked).toBeUndefined();
  });

  it('to a revision that is no longer the newest is 412', async () => {
    edge.scorecards.reviseScorecard = async () => {
      throw new Fault('stale', 'REVISION_CONFLICT', 'There is a newer one.', { details: { revision: 4 } });
    };
    const response = await put('"3"');
    expect([response.status, response.body['code'], response.body['details']]).toEqual([
      412,
      'REVISION_CONFLICT',
      { revision: 4 },
    ]);
  });
});
