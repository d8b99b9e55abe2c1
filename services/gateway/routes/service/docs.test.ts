import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fixture, openFixture } from '../../test/fixture.ts';

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

describe('the documentation', () => {
  it('is an OpenAPI 3.1 document, without authentication', async () => {
    const { status, body } = await edge.request('GET', '/openapi.json', { headers: { authorization: '' } });
    expect([status, body['openapi']]).toEqual([200, '3.1.1']);
    expect(Object.keys(body['paths'] as object)).toContain('/api/v1/calls/{uuid}');
  });

  it('lists campaign operations in the order of use, beginning with creation', async () => {
    const { body } = await edge.request('GET', '/openapi.json');
    const campaigns = Object.keys(body['paths'] as object).filter((path) => path.includes('call-campaign'));
    expect(campaigns[0]).toBe('/external/api/v1/call-campaign');
    expect(campaigns.findIndex((path) => path.endsWith('/start'))).toBeLessThan(
      campaigns.findIndex((path) => path.endsWith('/calls/upload')),
    );
  });

  it('has the path under which a proxy serves it, so that requests work there', async () => {
    const behindProxy = await openFixture({ publicUrl: 'https://calls.example/analysis/' });
    const servers = async (at: Fixture) => (await at.request('GET', '/openapi.json')).body['servers'];
    expect(await servers(behindProxy).finally(() => behindProxy.close())).toEqual([{ url: '/analysis' }]);
    expect(await servers(edge)).toEqual([{ url: '/' }]);
  });

  it.each(['/docs', '/docs?', '/docs/', '/docs/?'])(
    'is a page at %s that works under any path and loads nothing from other servers',
    async (at) => {
      const page = await edge.request('GET', at);
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'none'/);
      expect(policy).toMatch(/script-src 'self';/);
      expect(policy).not.toMatch(/https?:|\*/);
      const served = (link: string, from: string) => new URL(link, `https://calls.example/analysis${from}`).pathname;
      const parts = Array.from(page.text.matchAll(/(?:src|href)="([^"]+)"/g), ([, link = '']) => {
        expect(served(link, at)).toMatch(/^\/analysis\/docs\//);
        return served(link, at).slice('/analysis'.length);
      });
      expect(parts.length).toBeGreaterThan(2);
      for (const path of parts) {
        const part = await edge.request('GET', path);
        expect([path, part.status, part.text.length > 100]).toEqual([path, 200, true]);
        expect(part.headers.get('cache-control')).toMatch(/^private, max-age=/);
        expect(part.headers.get('x-content-type-options')).toBe('nosniff');
      }
    },
  );

  it.each(['/docs/package.json', '/docs/..%2Fpackage.json', '/docs/%2e%2e%2findex.js', '/docs/x'])(
    'has no %s',
    async (path) => {
      const { status, body } = await edge.request('GET', path);
      expect([status, body['message']]).toEqual([404, 'There is nothing at this address. Check the path.']);
    },
  );
});
