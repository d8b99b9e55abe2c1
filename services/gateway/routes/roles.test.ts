import { Readiness } from '@call-analysis/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { DEFAULT_ROLES, Role } from '../authentication/caller.ts';
import { type Backends, endpointsOf } from '../gateway.ts';
import { callParameter, type Endpoint } from '../http/endpoint.ts';
import { type Fixture, openFixture, user } from '../test/fixture.ts';

/** Beside the roles of the specification, by operation. What is not here is closed to REVIEWER and OPERATOR. */
const OPEN_TO: Readonly<Record<string, readonly Role[]>> = {
  listCalls: ['REVIEWER', 'OPERATOR'],
  getCall: ['REVIEWER', 'OPERATOR'],
  getPlayback: ['REVIEWER', 'OPERATOR'],
  getTranscript: ['REVIEWER', 'OPERATOR'],
  getReview: ['REVIEWER', 'OPERATOR'],
  reviewCall: ['REVIEWER'],
  takeNextCall: ['REVIEWER'],
  releaseLease: ['REVIEWER'],
  readQueue: ['REVIEWER'],
  changeReview: ['REVIEWER'],
  withdrawReview: ['REVIEWER'],
  addComment: ['REVIEWER'],
  listComments: ['REVIEWER'],
  deleteComment: ['REVIEWER'],
  exportCalls: ['REVIEWER'],
  exportSelectedCalls: ['REVIEWER'],
  getStatistics: ['REVIEWER', 'OPERATOR'],
  countSpokenWords: ['REVIEWER', 'OPERATOR'],
  getAgreement: ['REVIEWER'],
  listComparedCalls: ['REVIEWER'],
  assignCall: ['REVIEWER'],
  acknowledgeReview: ['OPERATOR'],
  disputeAnswer: ['REVIEWER', 'OPERATOR'],
  listDisputes: ['REVIEWER', 'OPERATOR'],
  decideDispute: ['REVIEWER'],
  createCalibration: ['REVIEWER'],
  listCalibrations: ['REVIEWER'],
  getCalibration: ['REVIEWER'],
  answerCalibration: ['REVIEWER'],
  listViews: ['REVIEWER'],
  getView: ['REVIEWER'],
  createView: ['REVIEWER'],
  changeView: ['REVIEWER'],
  deleteView: ['REVIEWER'],
  readInbox: ['REVIEWER', 'OPERATOR'],
  putMentionAway: ['REVIEWER', 'OPERATOR'],
  readCallDesk: ['REVIEWER', 'OPERATOR'],
  listPeople: ['REVIEWER', 'OPERATOR'],
  getFirm: ['REVIEWER', 'OPERATOR'],
  sendMcpMessage: ['REVIEWER'],
};

/** Operations that fewer roles than those of the specification may use. */
const ADMINS = ['ADMIN'] as const;
const CLOSED_TO_SOME: Readonly<Record<string, readonly Role[]>> = {
  createApiKey: ['SUPERUSER', 'WORKFLOW_ENGINEER'],
  listApiKeys: ['SUPERUSER'],
  rotateApiKey: ['SUPERUSER'],
  deleteApiKey: ['SUPERUSER'],
  listUsers: ['ADMIN', 'SUPERUSER'],
  createUser: ['ADMIN', 'SUPERUSER'],
  getUser: ['ADMIN', 'SUPERUSER'],
  changeUser: ['ADMIN', 'SUPERUSER'],
  removeUser: ['ADMIN', 'SUPERUSER'],
  createConsoleLink: ['ADMIN', 'SUPERUSER'],
};
const OF_ADMINS = /^(?:\/api\/v1\/(?:audit|usage|budget|webhooks|scorecards|sampling-rules)(?:\/|$))/;
const ALSO_OF_ADMINS = new Set(['changeFirm', 'eraseCallsOfNumber', 'analyzeCalls', 'cancelJob', 'closeCalibration']);
const AGREEMENT = /\/agreement/;

const endpoints = endpointsOf({}, {} as Backends, new Readiness([])).filter(
  ({ credentials }) => credentials === 'bearer',
);

function expectedRoles({ path, docs }: Endpoint): readonly Role[] {
  const isOfAdmins = (OF_ADMINS.test(path) && !AGREEMENT.test(path)) || ALSO_OF_ADMINS.has(docs.id);
  const own = CLOSED_TO_SOME[docs.id] ?? (isOfAdmins ? ADMINS : DEFAULT_ROLES);
  return [...own, ...(OPEN_TO[docs.id] ?? [])];
}

const CALL = '019a4f3e-7d00-7aa1-8c11-0d9e4f6a7b01';
const addressOf = (path: string) => path.replaceAll(/:\w+/g, CALL);

let edge: Fixture;
beforeAll(async () => {
  edge = await openFixture();
  edge.keys.findUser = async () => ({
    user: {
      uuid: user,
      firm_uuid: '1a2b3c4d-0000-4000-8000-000000000001',
      name: 'User',
      role: 'ADMIN',
      web_api_only: false,
      operator_ids: ['17', 'a-2'],
      created_at: '2026-10-01T04:00:00.000Z',
    },
  });
});
afterAll(() => edge.close());

describe('who may use it', () => {
  let seen: { caller: unknown; call_uuid: string }[] = [];
  beforeEach(() => {
    seen = [];
    edge.calls.seesCall = async ({ caller, call_uuid }) => {
      seen.push({ caller, call_uuid });
      return { sees: false };
    };
  });

  it('is said for every operation that is opened', () => {
    const known = new Set(endpoints.map(({ docs }) => docs.id));
    const named = [...Object.keys(OPEN_TO), ...Object.keys(CLOSED_TO_SOME), ...ALSO_OF_ADMINS];
    expect(named.filter((id) => !known.has(id))).toEqual([]);
  });

  it.each(endpoints.map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, endpoint })))(
    '$name: other roles are refused with 403 before anything else is looked at',
    async ({ endpoint }) => {
      const expected = expectedRoles(endpoint);
      const answers: Partial<Record<Role, number>> = {};
      for (const role of Role.options) {
        const json = endpoint.body === null || 'parts' in endpoint.body ? {} : { json: {} };
        answers[role] = (await edge.request(endpoint.method, addressOf(endpoint.path), { role, ...json })).status;
      }
      const refused = Role.options.filter((role) => answers[role] === 403);
      expect(refused).toEqual(Role.options.filter((role) => !expected.includes(role)));
    },
  );

  const ofCalls = endpoints.filter(({ path, docs }) => callParameter(path) && OPEN_TO[docs.id]?.includes('OPERATOR'));

  it("another operator's call is 404 wherever a path names one", async () => {
    expect(ofCalls.length).toBeGreaterThan(5);
    for (const { method, path, body } of ofCalls) {
      const json = body instanceof z.ZodObject ? { json: valid(body) } : {};
      const answer = await edge.request(method, addressOf(path), { role: 'OPERATOR', ...json });
      expect([path, answer.status, answer.body['code']]).toEqual([path, 404, 'NOT_FOUND']);
    }
    const caller = expect.objectContaining({ sees_only: { operator_ids: ['17', 'a-2'] } });
    expect(seen).toEqual(ofCalls.map(() => ({ caller, call_uuid: CALL })));
    const wrong = await edge.request('GET', '/api/v1/calls/nonsense', { role: 'OPERATOR' });
    expect([wrong.status, wrong.body['code']]).toEqual([404, 'NOT_FOUND']);
  });

  it('nobody else is asked which calls they see', async () => {
    for (const role of ['REVIEWER', 'ADMIN'] as const)
      await edge.request('GET', `/api/v1/calls/${CALL}/playback`, { role });
    expect(seen).toEqual([]);
  });

  it('what is open to an OPERATOR names calls in its path alone, where each is checked', () => {
    const open = endpoints.filter(({ roles }) => roles.includes('OPERATOR'));
    for (const { docs, query, body } of open) {
      const fields = [...Object.keys(query.shape), ...(body instanceof z.ZodObject ? Object.keys(body.shape) : [])];
      expect([docs.id, fields.filter((field) => /call_?uuid/.test(field))]).toEqual([docs.id, []]);
    }
  });
});

describe('an OPERATOR', () => {
  const sees_only = { operator_ids: ['17', 'a-2'] };
  const asked: Record<string, unknown> = {};
  const note =
    <Reply>(name: string, reply: Reply) =>
    async ({ caller }: { caller: unknown }) => {
      asked[name] = caller;
      return reply;
    };

  beforeAll(() => {
    edge.calls.listCalls = note('calls', { count: 0, items: [], count_is_estimate: false });
    edge.calls.countSpokenWords = note('words', { json: Buffer.from('{"calls":0,"items":[]}') });
    edge.calls.readStatistics = note('statistics', { json: Buffer.from('{"items":[]}') });
    edge.desk.listDisputes = note('disputes', { json: Buffer.from('{"count":0,"items":[]}') });
    edge.desk.readInbox = note('inbox', { json: Buffer.from('{"count":0,"items":[]}') });
  });

  it.each([
    ['calls', '/api/v1/calls?operator_id=18'],
    ['statistics', '/api/v1/statistics?group_by=operator_name'],
    ['words', '/api/v1/words'],
    ['disputes', '/api/v1/disputes'],
    ['inbox', '/api/v1/inbox'],
  ])('is limited to the operator ids of the user in %s', async (name, path) => {
    expect((await edge.request('GET', path, { role: 'OPERATOR' })).status).toBe(200);
    expect(asked[name]).toMatchObject({ sees_only });
    expect((await edge.request('GET', path, { role: 'REVIEWER' })).status).toBe(200);
    expect(asked[name]).not.toHaveProperty('sees_only');
  });
});

/** A body that passes the schema. */
function valid(schema: z.ZodObject): object {
  const samples = { question_uuid: CALL, reason: 'Listen again' };
  return Object.fromEntries(Object.entries(samples).filter(([name]) => name in schema.shape));
}
