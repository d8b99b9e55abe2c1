import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiKey, everyKeyIs, openFixture } from '../test/fixture.ts';
import type { Fixture } from '../test/fixture.ts';

const path = '/external/api/v1/call-campaign';
const headers = { 'x-service-api-key': apiKey };

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture({ keyTtlMs: 5000 });
  edge.keys.verifyKeys = everyKeyIs('k1');
});

afterAll(() => edge.close());

describe('listing campaigns', () => {
  it.each(['', '/', '?page=3&size=1&status=draft&external_id=x'])('at %s answers an empty list to a good key', async (rest) => {
    const answer = await edge.ask('GET', path + rest, { headers });
    expect([answer.status, answer.body]).toEqual([200, { count: 0, items: [] }]);
  });

  it.each(['?page=0', '?status=new', '?external_id=', '?name=x'])('refuses %s', async (query) => {
    expect((await edge.ask('GET', path + query, { headers })).status).toBe(400);
  });

  it('is refused to a bearer without a key, and to a key that was revoked though cached', async () => {
    expect((await edge.ask('GET', path)).status).toBe(401);
    expect((await edge.ask('GET', path, { headers })).status).toBe(200);
    edge.apiKeys.revoke('k1');
    const answer = await edge.ask('GET', path, { headers });
    expect([answer.status, answer.body['code']]).toEqual([403, 'API_KEY_INVALID']);
  });

  it('does not take an API key where a bearer token is due', async () => {
    expect((await edge.ask('GET', '/api/v1/calls', { headers: { ...headers, authorization: '' } })).status).toBe(401);
  });
});
