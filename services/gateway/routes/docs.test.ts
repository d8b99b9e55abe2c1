import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openFixture } from '../test/fixture.ts';
import type { Fixture } from '../test/fixture.ts';

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

describe('the documentation', () => {
  it('is an OpenAPI 3.1 document for whoever asks', async () => {
    const { status, body } = await edge.ask('GET', '/openapi.json', { headers: { authorization: '' } });
    expect([status, body['openapi']]).toEqual([200, '3.1.1']);
    expect(Object.keys(body['paths'] as object)).toContain('/api/v1/calls/{uuid}');
  });

  it('tells of campaigns in the order in which they are used, from their creation on', async () => {
    const { body } = await edge.ask('GET', '/openapi.json');
    const campaigns = Object.keys(body['paths'] as object).filter((path) => path.includes('call-campaign'));
    expect(campaigns[0]).toBe('/external/api/v1/call-campaign');
    expect(campaigns.findIndex((path) => path.endsWith('/start'))).toBeLessThan(campaigns.findIndex((path) => path.endsWith('/calls/upload')));
  });

  it('is a page that takes everything it needs from here, and may take nothing from elsewhere', async () => {
    const page = await edge.ask('GET', '/docs');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/script-src 'self';/);
    expect(policy).not.toMatch(/https?:|\*/);
    const parts = Array.from(page.text.matchAll(/(?:src|href)="([^"]+)"/g), ([, path = '']) => path);
    expect(parts.length).toBeGreaterThan(2);
    for (const path of parts) {
      const part = await edge.ask('GET', path);
      expect([path, part.status, part.text.length > 100]).toEqual([path, 200, true]);
      expect(part.headers.get('cache-control')).toMatch(/^private, max-age=/);
      expect(part.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it.each(['/docs/package.json', '/docs/..%2Fpackage.json', '/docs/%2e%2e%2findex.js', '/docs/x'])('has no %s', async (path) => {
    const { status, body } = await edge.ask('GET', path);
    expect([status, body['message']]).toEqual([404, 'There is nothing at this address. Check the path.']);
  });
});
