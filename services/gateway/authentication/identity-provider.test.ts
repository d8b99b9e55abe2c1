import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { identityProvider } from './identity-provider.ts';
import { tokenVerifier } from './token.ts';

const secret = 'a secret of thirty-two bytes or more';
const user = '1a2b3c4d-0000-4000-8000-00000000000a';
const firm = '1a2b3c4d-0000-4000-8000-000000000001';
const caller = { userUuid: user, firmUuid: firm, role: 'ADMIN' };
const unauthenticated = { kind: 'unauthenticated', code: 'UNAUTHENTICATED' };
const unavailable = { kind: 'unavailable', code: 'UNAVAILABLE' };

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const jwk = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' });

let server: Server;
let body: string;
let status: number;
let fetches: number;

beforeEach(async () => {
  [body, status, fetches] = ['{"keys":[]}', 200, 0];
  server = createServer((_, response) => {
    fetches++;
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => void server.close());

const publish = (...keys: object[]) => (body = JSON.stringify({ keys }));

function verifier(timing = { cooldownMs: 0, backOffMs: 0 }) {
  const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  const rules = {
    issuer: 'us',
    audience: 'them',
    key: { kind: 'secret', secret },
    identityProvider: { jwksUrl, issuer: 'https://id.example' },
  } as const;
  return tokenVerifier(rules, { identityProvider: identityProvider(jwksUrl, timing) });
}

function token(key: KeyObject, options: jwt.SignOptions = {}, claims: object = {}): string {
  return jwt.sign({ sub: user, firm, role: 'ADMIN', iss: 'https://id.example', aud: 'them', ...claims }, key, {
    algorithm: 'RS256',
    expiresIn: 60,
    ...options,
  });
}

const ours = () => jwt.sign({ sub: user, firm, role: 'ADMIN', iss: 'us', aud: 'them' }, secret, { expiresIn: 60 });

describe('tokens of an identity provider', () => {
  it('are accepted under each of its keys, with and without an id, and keys are fetched once', async () => {
    const [one, two] = [rsa(), rsa()];
    publish(jwk(one.publicKey, 'one'), jwk(two.publicKey, 'two'));
    const verify = verifier();
    const options = [{ keyid: 'one' }, {}];
    for (const each of options) expect(await verify(token(one.privateKey, each))).toMatchObject({ caller });
    expect(await verify(token(two.privateKey, { keyid: 'two' }))).toMatchObject({ caller });
    expect(fetches).toBe(1);
  });

  it('are accepted under a new key at once, and ids that are invented cause no fetch each', async () => {
    const [old, next] = [rsa(), rsa()];
    publish(jwk(old.publicKey, 'old'));
    const verify = verifier();
    await verify(token(old.privateKey, { keyid: 'old' }));
    publish(jwk(next.publicKey, 'next'));
    expect(await verify(token(next.privateKey, { keyid: 'next' }))).toMatchObject({ caller });
    const patient = verifier({ cooldownMs: 60_000, backOffMs: 0 });
    fetches = 0;
    for (let n = 0; n < 20; n++) {
      await expect(patient(token(old.privateKey, { keyid: `invented ${n}` }))).rejects.toMatchObject(unauthenticated);
    }
    expect(fetches).toBe(1);
  });

  it.each([
    ['of the issuer that only our own key may name', { iss: 'us' }],
    ['for another audience', { aud: 'others' }],
    ['without a role', { role: undefined }],
    ['that has expired', { exp: 1 }],
  ])('are refused when they are %s', async (_, claims) => {
    const pair = rsa();
    publish(jwk(pair.publicKey, 'one'));
    const payload = { sub: user, firm, role: 'ADMIN', iss: 'https://id.example', aud: 'them', exp: 4e9, ...claims };
    const signed = jwt.sign(payload, pair.privateKey, { algorithm: 'RS256', keyid: 'one' });
    await expect(verifier()(signed)).rejects.toMatchObject(unauthenticated);
  });

  it('are refused under a key that is not published, is too short, or is a published secret', async () => {
    const pair = rsa();
    publish({ kty: 'oct', k: Buffer.from(secret).toString('base64url'), kid: 'oct', alg: 'HS256' });
    const verify = verifier();
    await expect(verify(token(pair.privateKey, { keyid: 'one' }))).rejects.toMatchObject(unauthenticated);
    const claims = { sub: user, firm, role: 'ADMIN', iss: 'https://id.example', aud: 'them' };
    const published = jwt.sign(claims, 'another secret of thirty-two bytes', { keyid: 'oct', expiresIn: 60 });
    await expect(Promise.resolve().then(() => verify(published))).rejects.toMatchObject(unauthenticated);
  });

  it('get 503 while the provider is away, answers nonsense or sends too much; our own are accepted meanwhile', async () => {
    const pair = rsa();
    for (const [code, text] of [
      [500, '{}'],
      [302, '{}'],
      [200, '<html>'],
      [200, '{"keys":1}'],
      [200, JSON.stringify({ keys: [], more: 'x'.repeat(300_000) })],
    ] as const) {
      [status, body] = [code, text];
      const verify = verifier();
      await expect(verify(token(pair.privateKey, { keyid: 'one' }))).rejects.toMatchObject(unavailable);
      expect(await verify(ours())).toMatchObject({ caller });
    }
    const verify = verifier({ cooldownMs: 0, backOffMs: 60_000 });
    fetches = 0;
    for (let n = 0; n < 20; n++) {
      await expect(verify(token(pair.privateKey, { keyid: `${n}` }))).rejects.toMatchObject(unavailable);
    }
    expect(fetches).toBe(1);
  });
});
