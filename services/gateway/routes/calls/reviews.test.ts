import { Fault } from '@call-analysis/fault';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, user } from '../../test/fixture.ts';

const uuid = '00000000-0000-4000-8000-0000000000c1';
const analysis_uuid = '00000000-0000-4000-8000-0000000000a1';
const question_uuid = '00000000-0000-4000-8000-0000000000d1';
const path = `/api/v1/calls/${uuid}`;
const caller = { firm_uuid: firm.uuid, user_uuid: user };
const at = '2026-01-01T00:00:00.000Z';
const body = { analysis_uuid, answers: [{ question_uuid, answer: 'no' }] };

let edge: Fixture;
let asked: unknown;
const askedBody = () => JSON.parse((asked as { json: string }).json) as unknown;

beforeAll(async () => {
  edge = await openFixture();
  const review = { by: user, at, comment: null, done: false, revision: 3 };
  const reviewed = { scorecard: {}, sections: [], review };
  const answer = (reply: object) => async (request: unknown) => {
    asked = request;
    return reply as never;
  };
  edge.calls.reviewAnalysis = answer(reviewed);
  edge.calls.changeReview = answer(reviewed);
  edge.calls.withdrawReview = answer({ scorecard: {}, sections: [], review: null });
});
afterAll(() => edge.close());

describe('a review', () => {
  it('is read with its revision as ETag, and who gave which answer', async () => {
    const answers = [{ question_uuid, answer: null, comment: null, by: user, at }];
    const review = { analysis_uuid, revision: 3, by: user, at, comment: null, done: true, answers };
    edge.calls.readReview = async () => review as never;
    const response = await edge.request('GET', `${path}/review`);
    expect([response.status, response.headers.get('etag'), response.body]).toEqual([200, '"3"', review]);
  });

  it.each(['PUT', 'PATCH'])(
    'is written by %s under the revision in If-Match, and its new one is the ETag',
    async (method) => {
      const first = await edge.request(method, `${path}/review`, { json: body, headers: { 'if-match': '"2"' } });
      expect([first.status, first.headers.get('etag')]).toEqual([200, '"3"']);
      expect(asked).toMatchObject({ caller, path: [uuid], based_on: 2 });
      expect(askedBody()).toEqual(body);
      await edge.request(method, `${path}/review`, { json: { ...body, done: true } });
      expect(askedBody()).toEqual({ ...body, done: true });
      expect(asked).not.toMatchObject({ based_on: expect.anything() });
      const wrong = await edge.request(method, `${path}/review`, { json: body, headers: { 'if-match': '2' } });
      expect(wrong.body['details']).toMatchObject({ fields: [{ field: 'If-Match', code: 'INVALID' }] });
    },
  );

  it('is withdrawn under the revision in If-Match, and has no ETag then', async () => {
    const { status, headers } = await edge.request('DELETE', `${path}/review`, { headers: { 'if-match': '"3"' } });
    expect([status, headers.get('etag')]).toEqual([200, null]);
    expect(asked).toMatchObject({ path: [uuid], based_on: 3 });
  });

  it('that another person has changed is 412, and one that the caller has not read 428, with what changed', async () => {
    const details = { by: user, at, revision: 3, answers: [] };
    for (const [kind, code, status] of [
      ['stale', 'REVIEW_CHANGED', 412],
      ['unseen', 'IF_MATCH_REQUIRED', 428],
    ] as const) {
      edge.calls.changeReview = async () => {
        throw new Fault(kind, code, 'Read it again.', { details });
      };
      const response = await edge.request('PATCH', `${path}/review`, { json: body });
      expect([response.status, response.body['code'], response.body['details']]).toEqual([status, code, details]);
    }
  });
});

describe('a call that a client follows', () => {
  const version = '0cc175b9c0f1b6a831c399e269772661';
  const question = { uuid: question_uuid, answer: null, not_applicable: false };
  const analysis = { scorecard: { uuid, name: 'One', revision: 1 }, sections: [{ questions: [question] }] };
  const reply = { uuid, audio: null, analyses: [analysis], history: [], version };

  it('is 304 while the client has its version, which is the ETag', async () => {
    edge.scorecards.getScorecard = async () => ({ scorecard: null, sections_json: labels }) as never;
    const labels = JSON.stringify([{ name: 'A', questions: [{ uuid: question_uuid, choices: [{ label: 'Yes' }] }] }]);
    edge.calls.getCall = async (request) => {
      asked = request;
      return reply as never;
    };
    const first = await edge.request('GET', path);
    const etag = first.headers.get('etag')!;
    expect([first.status, etag]).toEqual([200, `W/"${version}"`]);
    const second = await edge.request('GET', path, { headers: { 'if-none-match': etag } });
    expect([second.status, second.text]).toEqual([304, '']);
    expect(asked).toMatchObject({ known_version: version });
    const other = await edge.request('GET', path, { headers: { 'if-none-match': `W/"${'0'.repeat(32)}"` } });
    expect(other.status).toBe(200);
    await edge.request('GET', path, { headers: { 'if-none-match': 'anything' } });
    expect(asked).not.toMatchObject({ known_version: expect.anything() });
  });

  it('has no ETag while the labels of its answers cannot be read, so that the client asks again', async () => {
    edge.scorecards.getScorecard = async () => {
      throw new Fault('unavailable', 'UNAVAILABLE', 'Not now.');
    };
    const unread = { ...analysis, scorecard: { ...analysis.scorecard, revision: 2 } };
    edge.calls.getCall = async () => ({ ...reply, analyses: [unread] }) as never;
    expect((await edge.request('GET', path)).headers.get('etag')).toBeNull();
  });
});
