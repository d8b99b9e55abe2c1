import { Fault } from '@call-analysis/fault';
import { freePort } from '@call-analysis/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture } from '../test/fixture.ts';
import {
  Browser,
  CLIENT_ID,
  CLIENT_SECRET,
  type IdentityProviderUnderTest,
  startIdentityProvider,
} from '../test/identity-provider.ts';
import { openIdFrom, OpenIdVariables } from './variables.ts';

const START = '/api/v1/session/openid';
const later = new Date(Date.now() + 900_000).toISOString();
const reply = { secret: 'the-secret', token: 'token', token_expires_at: later, session_expires_at: later };

let provider: IdentityProviderUnderTest;
let fixture: Fixture;
let opened: object[];
/** The address of the console that a browser ends at. */
let consoleUrl: string;
let isBack: (url: URL) => boolean;

beforeAll(async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  provider = await startIdentityProvider(`${url}${START}/callback`);
  provider.people.set('ann', { name: 'Ann Lee', firm: firm.uuid, groups: ['staff', 'quality'] });
  provider.people.set('bob', { name: 'Bob', firm: firm.uuid, groups: ['staff'] });
  provider.people.set('eve', { name: 'Eve', groups: ['quality'] });
  provider.people.set('kim', { name: 'Kim', firm: firm.uuid, groups: ['phones'], extensions: [17, 'a-2', ''] });
  provider.people.set('gone', { name: 'Gone', firm: firm.uuid, groups: ['quality'] });
  fixture = await openFixture({
    host: '127.0.0.1',
    port,
    publicUrl: url,
    openId: openIdFrom(
      OpenIdVariables.parse({
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: CLIENT_ID,
        OIDC_CLIENT_SECRET: CLIENT_SECRET,
        OIDC_NAME: 'Company login',
        OIDC_SCOPES: 'openid profile work',
        OIDC_FIRM_CLAIM: 'firm',
        OIDC_ROLE_CLAIM: 'groups',
        OIDC_ROLES: 'platform=SUPERUSER,quality=ADMIN,phones=OPERATOR',
        OIDC_OPERATOR_IDS_CLAIM: 'extensions',
      }),
    ),
  });
  opened = [];
  Object.assign(fixture.keys, {
    openProviderSession: async (request: { subject: string }) => {
      if (request.subject === 'gone') throw new Fault('forbidden', 'FORBIDDEN', 'Your user was removed.');
      opened.push(request);
      return reply;
    },
  } satisfies Partial<Fixture['keys']>);
  consoleUrl = `${url}/console/`;
  isBack = (at) => at.pathname === `${START}/callback` || at.pathname === '/console/';
});
afterAll(async () => {
  await fixture.close();
  await provider.close();
});

/** Where a browser ends that signs in as this person. */
async function signIn(login: string, browser = new Browser()): Promise<string> {
  const back = await browser.signIn(`${fixture.url}${START}`, login, isBack);
  return (await browser.follow(back.href, (at) => at.pathname === '/console/')).url.href;
}

describe('signing in by an identity provider', () => {
  it('is offered to the sign-in page by name', async () => {
    const methods = await fixture.request('GET', '/api/v1/session/methods', { headers: { authorization: '' } });
    expect(methods).toMatchObject({
      status: 200,
      body: { openid: { name: 'Company login', url: `${fixture.url}${START}` } },
    });
  });

  it('opens a session for whom the provider names, with the firm and the role of the claims', async () => {
    const browser = new Browser();
    expect(await signIn('ann', browser)).toBe(consoleUrl);
    expect(opened).toEqual([
      expect.objectContaining({
        issuer: provider.issuer,
        subject: 'ann',
        name: 'Ann Lee',
        firm_uuid: firm.uuid,
        role: 'ADMIN',
      }),
    ]);
    expect(browser.cookie('call_analysis_session')).toBe('the-secret');
    // The attempt is over, so its answer cannot be used again.
    expect(browser.cookie('call_analysis_sign_in')).toBeUndefined();
  });

  it('gives an OPERATOR the operator ids of the claim', async () => {
    expect(await signIn('kim')).toBe(consoleUrl);
    expect(opened.at(-1)).toMatchObject({ subject: 'kim', role: 'OPERATOR', operator_ids: { ids: ['17', 'a-2'] } });
    await signIn('ann');
    expect(opened.at(-1)).toMatchObject({ subject: 'ann', operator_ids: { ids: [] } });
  });

  it('uses the code flow with PKCE, a state and a nonce', async () => {
    const response = await new Browser().get(`${fixture.url}${START}`);
    const { origin, searchParams } = new URL(response.headers.get('location') ?? '');
    expect(origin).toBe(provider.issuer);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: CLIENT_ID,
      redirect_uri: `${fixture.url}${START}/callback`,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{40,}$/),
      nonce: expect.stringMatching(/^[\w-]{40,}$/),
    });
    const cookie = response.headers.get('set-cookie') ?? '';
    for (const attribute of [`Path=${START}`, 'HttpOnly', 'SameSite=Lax'])
      expect(cookie.split('; ')).toContain(attribute);
  });

  it.each([
    ['bob', 'has no group with a role'],
    ['eve', 'has no firm'],
    ['gone', 'was removed here'],
  ])('refuses %s, who %s', async (login) => {
    const before = opened.length;
    const browser = new Browser();
    expect(await signIn(login, browser)).toBe(`${consoleUrl}#refused=forbidden`);
    expect(browser.cookie('call_analysis_session')).toBeUndefined();
    expect(opened).toHaveLength(before);
  });

  it('accepts the answer of the provider only in the browser that asked, and only once', async () => {
    const browser = new Browser();
    const back = await browser.signIn(`${fixture.url}${START}`, 'ann', isBack);
    const expired = `${consoleUrl}#refused=expired`;
    const end = async (which: Browser) => (await which.follow(back.href, (at) => at.pathname === '/console/')).url.href;
    expect(await end(new Browser())).toBe(expired);
    const other = new Browser();
    await other.get(`${fixture.url}${START}`);
    expect(await end(other)).toBe(expired);
    expect(await end(browser)).toBe(consoleUrl);
    expect(await end(browser)).toBe(expired);
  });

  it('goes back to the sign-in page when the person cancels', async () => {
    const browser = new Browser();
    await browser.get(`${fixture.url}${START}`);
    const end = await browser.follow(`${fixture.url}${START}/callback?error=access_denied`, (at) => at.hash !== '');
    expect(end.url.href).toBe(`${consoleUrl}#refused=canceled`);
  });

  it('logs why a sign-in failed, without codes, tokens and names', async () => {
    const lines = fixture.log.filter(({ msg }) => msg === 'a sign-in by the identity provider failed');
    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toMatch(/code=|eyJ|Bob|Eve/);
  });
});

describe('an identity provider that does not answer', () => {
  it('leaves the sign-in page with the reason, and is asked again at the next sign-in', async () => {
    const port = await freePort();
    const settings = { OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET, OIDC_FIRM: firm.uuid };
    const away = await openFixture({
      openId: openIdFrom(OpenIdVariables.parse({ ...settings, OIDC_ISSUER: `http://127.0.0.1:${port}` })),
    });
    try {
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const response = await fetch(`${away.url}${START}`, { redirect: 'manual' });
        expect(response.headers.get('location')).toBe('/console/#refused=unavailable');
      }
    } finally {
      await away.close();
    }
  });
});

describe('without an identity provider', () => {
  it('only the link is offered', async () => {
    const plain = await openFixture();
    try {
      const methods = await plain.request('GET', '/api/v1/session/methods', { headers: { authorization: '' } });
      expect(methods).toMatchObject({ status: 200, body: { openid: null } });
      expect((await plain.request('GET', START)).status).toBe(404);
    } finally {
      await plain.close();
    }
  });
});

describe('the settings of an identity provider', () => {
  const all = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'id', OIDC_CLIENT_SECRET: 'secret' };
  const read = (env: Record<string, string>) => openIdFrom(OpenIdVariables.parse(env));

  it.each([
    [{ OIDC_CLIENT_ID: 'id' }, 'OIDC_ISSUER must be set too'],
    [{ OIDC_ISSUER: 'https://login.example.com' }, 'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set too'],
    [all, 'one of OIDC_FIRM and OIDC_FIRM_CLAIM must be set'],
    [{ ...all, OIDC_FIRM: firm.uuid, OIDC_FIRM_CLAIM: 'firm' }, 'and not both'],
    [{ ...all, OIDC_FIRM: firm.uuid, OIDC_ROLES: 'a=ADMIN' }, 'OIDC_ROLE_CLAIM must be set too'],
  ])('are refused when something is missing or contradicts: %j', (env, message) => {
    expect(() => read(env)).toThrow(message);
  });

  it('make everyone an ADMIN of one firm unless claims say otherwise', () => {
    expect(read({ ...all, OIDC_FIRM: firm.uuid })).toMatchObject({
      name: 'login.example.com',
      firm: { uuid: firm.uuid },
      roles: null,
    });
  });

  it.each(['http://login.example.com', 'ftp://login.example.com'])('are refused with the unprotected %s', (issuer) => {
    expect(OpenIdVariables.safeParse({ OIDC_ISSUER: issuer }).success).toBe(false);
  });
});
