import { afterEach, describe, expect, it } from '@jest/globals';
import { type Fixture, openFixture } from '../../test/fixture.ts';

let edge: Fixture;

afterEach(() => edge.close());

const origin = 'https://pages.example';
const shared = (headers: Headers) => Array.from(headers.keys()).filter((name) => name.startsWith('access-control-'));

describe('pages of other origins', () => {
  it('can read nothing by default', async () => {
    edge = await openFixture();
    for (const method of ['GET', 'OPTIONS']) {
      const response = await edge.request(method, '/healthz', {
        headers: { origin, 'access-control-request-method': 'GET' },
      });
      expect(shared(response.headers)).toEqual([]);
      expect(response.headers.get('vary') ?? '').not.toContain('Origin');
    }
  });

  it('can send preflights and credentials and read responses and errors, when they are configured', async () => {
    edge = await openFixture({ corsOrigins: [origin] });
    const asked = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const preflight = await edge.request('OPTIONS', '/api/v1/calls/upload', { headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('POST, OPTIONS');
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(
      /authorization.*content-type.*x-service-api-key/,
    );
    expect(preflight.headers.get('access-control-max-age')).toBe('600');
    const refused = await edge.request('POST', '/api/v1/calls/upload', { headers: { origin } });
    expect(refused.status).toBe(400);
    expect(refused.headers.get('access-control-allow-origin')).toBe(origin);
    expect(refused.headers.get('access-control-expose-headers')).toMatch(/etag.*ratelimit.*retry-after.*x-request-id/);
    expect(refused.headers.get('access-control-allow-credentials')).toBeNull();
    expect(refused.headers.get('vary')).toBe('Origin, Accept-Encoding');
  });

  it('get nothing when they are not configured, and caches learn that the response varies', async () => {
    edge = await openFixture({ corsOrigins: [origin] });
    for (const other of ['https://pages.example.evil', 'http://pages.example', 'null']) {
      const response = await edge.request('GET', '/healthz', { headers: { origin: other } });
      expect([shared(response.headers), response.headers.get('vary')]).toEqual([[], 'Origin, Accept-Encoding']);
    }
  });

  it('can be any with *', async () => {
    edge = await openFixture({ corsOrigins: ['*'] });
    const response = await edge.request('GET', '/healthz', { headers: { origin } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });
});
