import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fixture, openFixture } from '../../test/fixture.ts';

let edge: Fixture;

beforeAll(async () => {
  edge = await openFixture();
});

afterAll(() => edge.close());

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${edge.url}${path}`, { redirect: 'manual', headers: { 'accept-encoding': 'identity', ...headers } });

/** The address of a large script of the console, as its page names it. */
async function scriptPath(): Promise<string> {
  const page = await (await get('/console/')).text();
  return `/console/${/"\.\/(assets\/console-[^"]+\.js)"/.exec(page)![1]}`;
}

describe('the console', () => {
  it('is where browsers that ask for / are sent, and others get 404 as JSON', async () => {
    const browser = await get('/', html);
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console/']);
    for (const accept of ['*/*', 'application/json']) {
      const other = await get('/', { accept });
      expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([404, 'NOT_FOUND']);
    }
    const bare = await get('/console', html);
    expect([bare.status, bare.headers.get('location')]).toEqual([302, '/console/']);
  });

  it('is one page for every path of its own, without inline scripts, never kept by a cache', async () => {
    for (const path of [
      '/console/',
      '/console/calls?q=parcel',
      '/console/calls/019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301',
    ]) {
      const response = await get(path, html);
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
      const page = await response.text();
      expect(page).toContain('<base href="/console/">');
      expect(page).not.toMatch(/<script(?![^>]*\bsrc=)/);
      expect(page).not.toMatch(/\b(?:src|href)="(?:https?:)?\/\//);
      const policy = response.headers.get('content-security-policy')!;
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toContain('unsafe');
      const [, nonce] = /nonce="([^"]+)"/.exec(page)!;
      expect(policy).toContain(`'nonce-${nonce}'`);
    }
  });

  it('makes a new nonce for every response', async () => {
    const nonces = await Promise.all(
      [1, 2, 3].map(async () => /nonce="([^"]+)"/.exec(await (await get('/console/')).text())![1]),
    );
    expect(new Set(nonces).size).toBe(3);
  });

  it('serves assets compressed as the browser asks, the same bytes each way, kept for ever', async () => {
    const path = await scriptPath();
    const plain = Buffer.from(await (await get(path)).arrayBuffer());
    // fetch decompresses, so the sizes tell which bytes were sent.
    const sizes: number[] = [];
    for (const [asked, expected] of [
      ['identity', null],
      ['gzip', 'gzip'],
      ['gzip, deflate, br', 'br'],
      ['br;q=0, gzip', 'gzip'],
    ] as const) {
      const response = await get(path, { 'accept-encoding': asked });
      expect(response.headers.get('content-encoding')).toBe(expected);
      expect(response.headers.get('vary')).toBe('Accept-Encoding');
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      sizes.push(Number(response.headers.get('content-length')));
      // `toEqual` would compare half a million bytes one by one.
      expect(plain.equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
    }
    expect(sizes[2]).toBeLessThan(sizes[1]!);
    expect(sizes[1]).toBeLessThan(sizes[0]! / 2);
  });

  it('answers 404 as JSON for an asset that it does not have', async () => {
    for (const path of ['/console/assets/old-12345678.js', '/console/assets/', '/console/assets/..%2fpackage.json']) {
      const response = await get(path, html);
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([404, 'NOT_FOUND']);
    }
  });
});

it('the console may play and upload where the object store is, if that is elsewhere, and nowhere else', async () => {
  const policyOf = async (at: Fixture) => (await fetch(`${at.url}/console/`)).headers.get('content-security-policy')!;
  expect(await policyOf(edge)).toMatch(/media-src 'self' blob:;connect-src 'self';/);
  const elsewhere = await openFixture({ objectsOrigin: 'https://files.example' });
  try {
    const policy = await policyOf(elsewhere);
    expect(policy).toMatch(
      /media-src 'self' blob: https:\/\/files\.example;connect-src 'self' https:\/\/files\.example;/,
    );
    expect(policy).toContain("script-src 'self';");
  } finally {
    await elsewhere.close();
  }
});

describe('the console behind a proxy that strips a prefix', () => {
  it('names its assets and redirects under the prefix', async () => {
    const proxied = await openFixture({ publicUrl: 'https://calls.example/quality' });
    try {
      const page = await (await fetch(`${proxied.url}/console/`)).text();
      expect(page).toContain('<base href="/quality/console/">');
      const root = await fetch(`${proxied.url}/`, { redirect: 'manual', headers: html });
      expect(root.headers.get('location')).toBe('/quality/console/');
    } finally {
      await proxied.close();
    }
  });
});
