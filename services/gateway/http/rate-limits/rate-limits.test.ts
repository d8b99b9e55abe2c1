import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Fixture, openFixture } from '../../test/fixture.ts';

let edge: Fixture;

/** The tests set the time, so that a busy machine does not matter. */
let now = 0;

beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});

async function open(options: Parameters<typeof openFixture>[0]): Promise<void> {
  edge = await openFixture(options);
  edge.calls.listCalls = async () => ({ count: 0, items: [] });
}

afterEach(async () => {
  jest.restoreAllMocks();
  await edge.close();
});

const list = (headers: Record<string, string> = {}) => edge.request('GET', '/api/v1/calls', { headers });

describe('rate limits', () => {
  it('by firm refuse requests over the quota, say when to retry, and do not affect unauthenticated requests', async () => {
    await open({ quotas: { perFirm: 3, perAddress: 1000 } });
    const policies = '"address";q=1000;w=60, "firm";q=3;w=60';
    for (const left of [2, 1, 0]) {
      const response = await list();
      expect(response.status).toBe(200);
      expect(response.headers.get('ratelimit-policy')).toBe(policies);
      expect(response.headers.get('ratelimit')).toMatch(new RegExp(`"firm";r=${left};t=\\d+$`));
    }
    const refused = await list();
    expect([refused.status, refused.body['code']]).toEqual([429, 'RATE_LIMITED']);
    expect(refused.headers.get('ratelimit-policy')).toBe(policies);
    expect(refused.headers.get('retry-after')).toBe('20');
    expect(refused.body['message']).toContain('20 s');
    expect((await edge.request('GET', '/docs/page.js')).status).toBe(200);
    now = 20_000;
    expect((await list()).status).toBe(200);
  });

  it('by address count every request except monitoring', async () => {
    await open({ quotas: { perFirm: 0, perAddress: 2 } });
    for (const path of ['/nothing', '/api/v1/calls/%zz']) expect((await edge.request('GET', path)).status).toBe(404);
    expect((await list()).status).toBe(429);
    for (const path of ['/healthz', '/readyz']) {
      const response = await edge.request('GET', path);
      expect([response.status, response.headers.get('ratelimit')]).toEqual([200, null]);
    }
    expect((await edge.request('GET', '/metrics')).headers.get('ratelimit')).toBe('"metrics";r=599;t=1');
  });

  it('let an address read the metrics ten times a second', async () => {
    await open({ quotas: { perFirm: 0, perAddress: 0 } });
    const read = await Promise.all(Array.from({ length: 620 }, () => edge.request('GET', '/metrics')));
    expect(read.filter(({ status }) => status === 200)).toHaveLength(600);
    expect(read.filter(({ status, headers }) => status === 429 && headers.has('retry-after'))).toHaveLength(20);
    expect((await list()).status).toBe(200);
  });

  it('count failed authentications separately, so that a caller behind the same proxy is not refused', async () => {
    await open({ quotas: { perFirm: 0, perAddress: 100 } });
    const statuses = [];
    for (let tries = 0; tries < 300; tries++) statuses.push((await list({ authorization: 'Bearer a.b.c' })).status);
    expect(statuses.slice(0, 6)).toEqual([401, 401, 401, 401, 401, 429]);
    expect(statuses.slice(6).every((status) => status === 429)).toBe(true);
    const refused = await list({ authorization: 'Bearer a.b.c' });
    expect([refused.body['code'], refused.headers.get('retry-after')]).toEqual(['RATE_LIMITED', '12']);
    expect((await list()).status).toBe(200);
  });

  it('are off when they are 0', async () => {
    await open({ quotas: { perFirm: 0, perAddress: 0 } });
    const response = await list();
    expect([response.status, response.headers.get('ratelimit-policy')]).toEqual([200, null]);
  });

  it('count the client behind a trusted proxy, and ignore the header of others', async () => {
    await open({ quotas: { perFirm: 0, perAddress: 1 }, trustedProxies: ['loopback'] });
    const from = (address: string) => list({ 'x-forwarded-for': address });
    expect((await from('203.0.113.1')).status).toBe(200);
    expect((await from('203.0.113.2')).status).toBe(200);
    expect((await from('203.0.113.1')).status).toBe(429);
    expect((await from('203.0.113.9, 203.0.113.2')).status).toBe(429);
    await edge.close();
    await open({ quotas: { perFirm: 0, perAddress: 1 } });
    expect((await from('203.0.113.1')).status).toBe(200);
    expect((await from('203.0.113.2')).status).toBe(429);
  });
});
