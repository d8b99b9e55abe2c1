import { Fault } from '@call-analysis/fault';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { apiKey, everyKeyIs, firm, type Fixture, openFixture, user } from '../test/fixture.ts';

const uuid = '00000000-0000-4000-8000-0000000000d1';
const delivery = '00000000-0000-4000-8000-0000000000d2';
const at = '2026-01-01T00:00:00.000Z';
const url = 'https://example.com/';
const item = {
  uuid,
  url,
  events: ['call.completed'],
  description: null,
  enabled: true,
  disabled_reason: null,
  created_at: at,
};
const sent = { uuid: delivery, event: 'call.completed', status: 'pending', attempts: 0, created_at: at };
const deliveryItem = { ...sent, last_status: null, last_error: null, next_at: null };

let edge: Fixture;
let asked: { readonly path: string[]; readonly json: string }[];

beforeAll(async () => {
  edge = await openFixture();
  edge.keys.verifyKeys = everyKeyIs('k1');
});

beforeEach(() => {
  asked = [];
  const answer = (reply?: object) => async (request: (typeof asked)[number]) => {
    asked.push(request);
    return { json: Buffer.from(reply === undefined ? '' : JSON.stringify(reply)) };
  };
  const withSecret = { ...item, secret: 'whsec_x' };
  Object.assign(edge.webhooks, {
    createWebhook: answer(withSecret),
    listWebhooks: answer({ count: 1, items: [item] }),
    getWebhook: answer(item),
    changeWebhook: answer({ ...item, enabled: false, disabled_reason: 'disabled by a user' }),
    deleteWebhook: answer(),
    rotateSecret: answer(withSecret),
    testWebhook: answer(deliveryItem),
    listDeliveries: answer({ count: 1, items: [deliveryItem] }),
    retryDelivery: answer(deliveryItem),
    replay: answer({ deliveries: 3 }),
  } satisfies Fixture['webhooks']);
});

afterAll(() => edge.close());

const period = { from: '2026-01-01T05:00:00+05:00', to: '2026-01-02' };
const routes = [
  ['POST', '', { url: 'https://example.com/', events: ['call.completed'] }, 201, { ...item, secret: 'whsec_x' }],
  ['GET', '', undefined, 200, { count: 1, items: [item] }],
  ['GET', `/${uuid}`, undefined, 200, item],
  ['PATCH', `/${uuid}`, { enabled: false }, 200, { ...item, enabled: false, disabled_reason: 'disabled by a user' }],
  ['DELETE', `/${uuid}`, undefined, 204, undefined],
  ['POST', `/${uuid}/rotate-secret`, undefined, 200, { ...item, secret: 'whsec_x' }],
  ['POST', `/${uuid}/test`, undefined, 202, deliveryItem],
  ['GET', `/${uuid}/deliveries?status=failed&status=pending`, undefined, 200, { count: 1, items: [deliveryItem] }],
  ['POST', `/${uuid}/deliveries/${delivery}/retry`, undefined, 202, deliveryItem],
  ['POST', `/${uuid}/replay`, period, 202, { deliveries: 3 }],
] as const;

describe.each(routes)('%s /webhooks%s', (method, path, json, status, body) => {
  it('answers an ADMIN and an API key alike, each for its firm', async () => {
    const byUser = await edge.request(method, `/api/v1/webhooks${path}`, { ...(json !== undefined && { json }) });
    const byKey = await fetch(`${edge.url}/external/api/v1/webhooks${path}`, {
      method,
      headers: { 'x-service-api-key': apiKey, ...(json !== undefined && { 'content-type': 'application/json' }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    expect([byUser.status, byKey.status]).toEqual([status, status]);
    const keyText = await byKey.text();
    if (body === undefined) expect([byUser.text, keyText]).toEqual(['', '']);
    else expect([byUser.body, JSON.parse(keyText)]).toEqual([body, body]);
    expect(asked).toHaveLength(2);
    for (const each of asked) expect(each).toMatchObject({ caller: { firm_uuid: firm.uuid, user_uuid: user } });
  });

  it('refuses other roles', async () => {
    for (const role of ['SUPERUSER', 'WORKFLOW_ENGINEER'] as const) {
      const options = { role, ...(json !== undefined && { json }) };
      expect((await edge.request(method, `/api/v1/webhooks${path}`, options)).status).toBe(403);
    }
    expect(asked).toEqual([]);
  });
});

describe('a request that is wrong', () => {
  it.each([
    ['POST', '', {}, ['url', 'events']],
    ['POST', '', { url: '', events: [] }, ['url', 'events']],
    ['POST', '', { url: 'https://a.example/', events: ['call.started'] }, ['events.0']],
    ['POST', '', { url: 'https://a.example/', events: ['call.failed'], secret: 'x' }, ['secret']],
    ['PATCH', `/${uuid}`, { enabled: 'yes', description: '' }, ['enabled', 'description']],
    ['POST', `/${uuid}/replay`, { from: 'yesterday' }, ['from', 'to']],
    ['POST', `/${uuid}/replay`, { from: '2026-10-02', to: '2026-10-01' }, ['to']],
    ['GET', `/${uuid}/deliveries?status=sent&size=0`, undefined, ['status', 'size']],
  ])('%s %s %j names every field', async (method, path, json, fields) => {
    const { status, body } = await edge.request(method, `/api/v1/webhooks${path}`, json === undefined ? {} : { json });
    expect([status, body['code']]).toEqual([400, 'VALIDATION_ERROR']);
    const { fields: faults } = body['details'] as { fields: { field: string }[] };
    expect(faults.map(({ field }) => field).toSorted()).toEqual(fields.toSorted());
  });

  it('to an address that is refused is 400 URL_NOT_ALLOWED', async () => {
    edge.webhooks.createWebhook = async () => {
      throw new Fault('invalid', 'URL_NOT_ALLOWED', '10.0.0.1 is not an address on the public internet.');
    };
    const json = { url: 'https://10.0.0.1/', events: ['call.completed'] };
    const { status, body } = await edge.request('POST', '/api/v1/webhooks', { json });
    expect([status, body['code']]).toEqual([400, 'URL_NOT_ALLOWED']);
  });
});

it.each([
  ['PATCH', `/${uuid}`, { description: null }, [uuid], { description: null }],
  ['PATCH', `/${uuid}`, { enabled: true }, [uuid], { enabled: true }],
  ['POST', `/${uuid}/replay`, period, [uuid], { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' }],
  ['POST', `/${uuid}/deliveries/${delivery}/retry`, undefined, [uuid, delivery], {}],
  ['GET', `/${uuid}/deliveries?status=failed`, undefined, [uuid], { status: ['failed'], page: 1, size: 10 }],
])('%s %s %j passes on what was sent, times in UTC', async (method, path, json, inPath, passed) => {
  await edge.request(method, `/api/v1/webhooks${path}`, json === undefined ? {} : { json });
  expect(asked.map((each) => [each.path, JSON.parse(each.json)])).toEqual([[inPath, passed]]);
});
