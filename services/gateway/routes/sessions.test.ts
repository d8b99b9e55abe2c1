import { generateKeyPairSync, sign } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firm, type Fixture, openFixture, tokenFor, user } from '../test/fixture.ts';

const PATH = '/api/v1/session';
const code = 'a code';
const secret = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ';
const later = new Date(Date.now() + 900_000).toISOString();
const sessionUuid = '019a4f3e-4444-7000-8000-000000000001';
const pair = generateKeyPairSync('ed25519');
const kid = 'session-abc';

function sessionToken(claims: object = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const issuer = 'call-analysis-session';
  const signed = `${part({ alg: 'EdDSA', kid })}.${part({
    sub: user,
    firm: firm.uuid,
    role: 'ADMIN',
    sid: sessionUuid,
    iss: issuer,
    aud: issuer,
    iat: 1,
    exp: Date.now() / 1000 + 60,
    ...claims,
  })}`;
  return `${signed}.${sign(null, Buffer.from(signed), pair.privateKey).toString('base64url')}`;
}

let fixture: Fixture;
let closed: string[];

beforeAll(async () => {
  fixture = await openFixture({ publicUrl: 'https://calls.example.org/base' });
  closed = [];
  const reply = { secret: '', token: 'token', token_expires_at: later, session_expires_at: later };
  const ended = () => new Fault('unauthenticated', 'UNAUTHENTICATED', 'no');
  Object.assign(fixture.keys, {
    openSession: async (request: { code: string }) => {
      if (request.code !== code) throw ended();
      return { ...reply, secret };
    },
    refreshSession: async (request: { secret: string }) => {
      if (request.secret !== secret) throw ended();
      return reply;
    },
    closeSession: async (request: { secret: string }) => {
      closed.push(request.secret);
      return {};
    },
  } satisfies Partial<Fixture['keys']>);
});
afterAll(() => fixture.close());

const cookie = `other=1; call_analysis_session=${secret}`;
const anonymous = { authorization: '' };

describe('a session', () => {
  it('is opened by a code, with a cookie that only its own addresses get and no script reads', async () => {
    const opened = await fixture.request('POST', PATH, { json: { code }, headers: anonymous });
    expect(opened).toMatchObject({ status: 200, body: { token: 'token', expires_at: later } });
    const given = opened.headers.get('set-cookie') ?? '';
    expect(given).toMatch(new RegExp(`^call_analysis_session=${secret}; Path=/base/api/v1/session; `));
    for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Secure']) expect(given.split('; ')).toContain(attribute);
    const refused = await fixture.request('POST', PATH, { json: { code: 'wrong' }, headers: anonymous });
    expect(refused).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } });
    expect(refused.headers.get('set-cookie')).toBeNull();
  });

  it('is refreshed by its cookie and ended with it', async () => {
    const refreshed = await fixture.request('POST', `${PATH}/refresh`, { headers: { ...anonymous, cookie } });
    expect(refreshed).toMatchObject({ status: 200, body: { token: 'token', expires_at: later } });
    expect((await fixture.request('POST', `${PATH}/refresh`, { headers: anonymous })).status).toBe(401);
    const ended = await fixture.request('DELETE', PATH, { headers: { ...anonymous, cookie } });
    expect(ended.status).toBe(204);
    expect(ended.headers.get('set-cookie')).toMatch(/^call_analysis_session=; .*Expires=Thu, 01 Jan 1970/);
    expect(closed).toEqual([secret]);
  });

  it.each<Record<string, string>>([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: 'https://calls.example.org' },
  ])('is refused to a page of another origin: %j', async (headers) => {
    for (const [method, path] of [
      ['POST', PATH],
      ['POST', `${PATH}/refresh`],
      ['DELETE', PATH],
    ] as const) {
      const json = path === PATH && method === 'POST' ? { json: { code } } : {};
      const answer = await fixture.request(method, path, { ...json, headers: { ...anonymous, cookie, ...headers } });
      expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    }
  });

  it.each<Record<string, string>>([
    { origin: 'https://calls.example.org' },
    { 'sec-fetch-site': 'same-origin', origin: 'http://proxy' },
  ])('is given to a page of this service: %j', async (headers) => {
    const answer = await fixture.request('POST', `${PATH}/refresh`, {
      headers: { ...anonymous, cookie, ...headers },
    });
    expect(answer.status).toBe(200);
  });
});

describe('the token of a session', () => {
  const withToken = (token: string) =>
    fixture.request('GET', '/api/v1/audit', { headers: { authorization: `Bearer ${token}` } });

  it('is accepted while the session lasts, by a key that is fetched when it is needed', async () => {
    let fetched = 0;
    const sessions: (string | undefined)[] = [];
    fixture.keys.listSessionKeys = async () => {
      fetched++;
      return { keys: [{ kid, pem: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString() }] };
    };
    const person = {
      uuid: user,
      firm_uuid: firm.uuid,
      name: 'Ann',
      role: 'ADMIN',
      web_api_only: false,
      operator_ids: [],
      created_at: '2026-10-01T04:00:00.000Z',
    };
    fixture.keys.findUser = async ({ session_uuid }) => {
      sessions.push(session_uuid);
      return session_uuid === sessionUuid || session_uuid === '' ? { user: person } : {};
    };
    fixture.keys.listAudit = async () => ({ count: 0, entries: [], names: {} });
    expect((await withToken(sessionToken())).status).toBe(200);
    expect((await withToken(sessionToken({ jti: 'another' }))).status).toBe(200);
    expect(sessions).toEqual([sessionUuid]);
    expect(fetched).toBe(1);
    const ended = await withToken(sessionToken({ sid: '019a4f3e-4444-7000-8000-000000000002' }));
    expect(ended).toMatchObject({ status: 401, body: { message: expect.stringContaining('session') } });
    // Neither a configured key nor a session's key may sign for the other.
    expect((await withToken(sessionToken({ iss: 'call-analysis', aud: 'call-analysis' }))).status).toBe(401);
    const issuer = 'call-analysis-session';
    expect((await withToken(tokenFor('ADMIN'))).status).toBe(200);
    expect((await withToken(tokenFor('ADMIN', { sid: sessionUuid, jti: issuer }))).status).toBe(200);
  });

  it('and any other token are refused after a revocation, and to an API user', async () => {
    const person = { uuid: user, firm_uuid: firm.uuid, name: 'Ann', role: 'ADMIN' };
    const other = '1a2b3c4d-0000-4000-8000-00000000000b';
    const api = '1a2b3c4d-0000-4000-8000-00000000000c';
    const before = fixture.keys.findUser;
    fixture.keys.findUser = async ({ user_uuid }) => ({
      user: {
        ...person,
        uuid: String(user_uuid),
        web_api_only: user_uuid === api,
        operator_ids: [],
        created_at: '2026-10-01T04:00:00.000Z',
        ...(user_uuid === other && { tokens_revoked_before: new Date(Date.now() + 60_000).toISOString() }),
      },
    });
    expect(await withToken(tokenFor('ADMIN', { sub: other }))).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('revoked') },
    });
    expect(await withToken(tokenFor('ADMIN', { sub: api }))).toMatchObject({
      status: 401,
      body: { message: expect.stringContaining('API user') },
    });
    fixture.keys.findUser = before;
  });
});
