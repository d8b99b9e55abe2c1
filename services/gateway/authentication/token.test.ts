import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { keyIdOf } from './signing-keys.ts';
import { type TokenRules, tokenVerifier } from './token.ts';

const secret = 'a secret of thirty-two bytes or more';
const now = Math.floor(Date.now() / 1000);
const claims = {
  sub: '1A2B3C4D-0000-4000-8000-00000000000a',
  firm: '1a2b3c4d-0000-4000-8000-000000000001',
  role: 'ADMIN',
  iss: 'us',
  aud: 'them',
  exp: now + 3600,
};
const caller = { userUuid: claims.sub.toLowerCase(), firmUuid: claims.firm, role: 'ADMIN' };
const unauthenticated = expect.objectContaining({ kind: 'unauthenticated', code: 'UNAUTHENTICATED' });

function verifier(key: TokenRules['key']) {
  return tokenVerifier({ issuer: 'us', audience: 'them', key });
}

const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function signEdDsa(payload: object, key: KeyObject, header: object = { alg: 'EdDSA', typ: 'JWT' }): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

const kinds = [
  { name: 'HS256', key: { kind: 'secret', secret }, make: (it: object) => jwt.sign(it, secret) },
  {
    name: 'RS256',
    key: { kind: 'public-key', pem: pem(rsa.publicKey) },
    make: (it: object) => jwt.sign(it, rsa.privateKey, { algorithm: 'RS256' }),
  },
  {
    name: 'ES256',
    key: { kind: 'public-key', pem: pem(ec.publicKey) },
    make: (it: object) => jwt.sign(it, ec.privateKey, { algorithm: 'ES256' }),
  },
  {
    name: 'EdDSA',
    key: { kind: 'public-key', pem: pem(ed.publicKey) },
    make: (it: object) => signEdDsa(it, ed.privateKey),
  },
] as const;

describe.each(kinds)('a $name token', ({ name, key, make }) => {
  const verify = verifier(key);

  it('identifies the caller', async () => {
    expect(await verify(make(claims))).toMatchObject({ caller });
    expect(await verify(make({ ...claims, aud: ['others', 'them'] }))).toMatchObject({ caller });
  });

  it.each([
    [
      'an altered payload',
      (token: string) => token.replace(/\.(.*)\./, `.${encode({ ...claims, role: 'SUPERUSER' })}.`),
    ],
    ['an altered signature', (token: string) => token.replace(/\.[^.]*$/, `.${'A'.repeat(86)}`)],
    ['no signature', (token: string) => token.replace(/[^.]*$/, '')],
    ['a further part', (token: string) => `${token}.x`],
    ['two parts', (token: string) => token.replace(/\.[^.]*$/, '')],
    ['the algorithm none', (token: string) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`],
    ['text that is not a token', () => 'abc'],
    ['8 KiB and more', (token: string) => token + 'A'.repeat(8192)],
  ])('is refused with %s', async (_, alter) => {
    await expect(verify(alter(make(claims)))).rejects.toEqual(unauthenticated);
  });

  it.each(['sub', 'firm', 'role', 'iss', 'aud', 'exp'])('is refused without %s', async (claim) => {
    const rest = Object.fromEntries(Object.entries(claims).filter(([name]) => name !== claim));
    await expect(verify(make(rest))).rejects.toEqual(unauthenticated);
  });

  it.each([
    ['a subject that is not a uuid', { sub: 'me' }],
    ['a firm that is not a uuid', { firm: '1' }],
    ['an unknown role', { role: 'admin' }],
    ['another issuer', { iss: 'them' }],
    ['another audience', { aud: 'us' }],
    ['several other audiences', { aud: ['us', 'you'] }],
    ['an expiry in the past', { exp: now - 1 }],
    ['a start in the future', { nbf: now + 3600 }],
  ])('is refused with %s', async (_, wrong) => {
    await expect(verify(make({ ...claims, ...wrong }))).rejects.toEqual(unauthenticated);
  });

  it('is valid from its start to its expiry, to the second', async () => {
    const token = make({ ...claims, nbf: now - 60, exp: now + 60 });
    for (const at of [now - 60, now + 59.999]) expect(await verify(token, at)).toMatchObject({ caller });
    for (const at of [now - 60.001, now + 60]) await expect(verify(token, at)).rejects.toEqual(unauthenticated);
  });

  it('is refused by a gateway with a key of another kind', async () => {
    for (const other of kinds) {
      if (other.name !== name) await expect(verifier(other.key)(make(claims))).rejects.toEqual(unauthenticated);
    }
  });
});

describe('bearer tokens', () => {
  it('cannot be forged by using the public key as a secret', async () => {
    const key = pem(rsa.publicKey);
    const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
    const forged = `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
    await expect(verifier({ kind: 'public-key', pem: key })(forged)).rejects.toEqual(unauthenticated);
  });

  it.each(['HS384', 'HS512'] as const)('of algorithm %s are refused even with the right secret', async (algorithm) => {
    await expect(verifier({ kind: 'secret', secret })(jwt.sign(claims, secret, { algorithm }))).rejects.toEqual(
      unauthenticated,
    );
  });

  it('with critical extensions are refused, because none are supported', async () => {
    const header = { alg: 'HS256', crit: ['exp'] };
    await expect(verifier({ kind: 'secret', secret })(jwt.sign(claims, secret, { header }))).rejects.toEqual(
      unauthenticated,
    );
    const edKey = { kind: 'public-key', pem: pem(ed.publicKey) } as const;
    const token = signEdDsa(claims, ed.privateKey, { alg: 'EdDSA', crit: ['b64'], b64: false });
    await expect(verifier(edKey)(token)).rejects.toEqual(unauthenticated);
  });

  it('whose payload is not an object are refused', async () => {
    await expect(verifier({ kind: 'secret', secret })(jwt.sign('text', secret))).rejects.toEqual(unauthenticated);
    const edKey = { kind: 'public-key', pem: pem(ed.publicKey) } as const;
    await expect(verifier(edKey)(signEdDsa([1], ed.privateKey))).rejects.toEqual(unauthenticated);
  });

  it('whose payload is JSON within a JSON string are refused, whatever the algorithm', async () => {
    const nested = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(JSON.stringify(claims))}`;
    const token = `${nested}.${createHmac('sha256', secret).update(nested).digest('base64url')}`;
    await expect(verifier({ kind: 'secret', secret })(token)).rejects.toEqual(unauthenticated);
    const edKey = { kind: 'public-key', pem: pem(ed.publicKey) } as const;
    const edToken = signEdDsa(JSON.stringify(claims) as unknown as object, ed.privateKey);
    await expect(verifier(edKey)(edToken)).rejects.toEqual(unauthenticated);
  });

  it.each([
    ['a short secret', { kind: 'secret', secret: 'short' }],
    ['no PEM', { kind: 'public-key', pem: 'x' }],
    [
      'a short RSA key',
      { kind: 'public-key', pem: pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey) },
    ],
    ['another curve', { kind: 'public-key', pem: pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey) }],
  ] as const)('cannot be checked with %s, and the start says so', (_, key) => {
    expect(() => verifier(key)).toThrow(expect.objectContaining({ name: 'StartFault' }));
  });
});

describe('several keys', () => {
  const older = 'an older secret of thirty-two bytes';
  const tokens = {
    issuer: 'us',
    audience: 'them',
    key: { kind: 'secret', secret },
    previousKeys: [{ kind: 'secret', secret: older }],
  } as const;
  const verify = tokenVerifier(tokens);

  it('accept the tokens of each, with its id, without an id and with an id of another issuer', async () => {
    for (const signing of [secret, older]) {
      const kid = keyIdOf({ kind: 'secret', secret: signing });
      for (const keyid of [undefined, kid, 'elsewhere']) {
        const token = jwt.sign(claims, signing, keyid === undefined ? {} : { keyid });
        expect(await verify(token)).toMatchObject({ caller });
      }
    }
  });

  it('refuse a token whose id is that of a key that did not sign it, and one of a key that was removed', async () => {
    const keyid = keyIdOf({ kind: 'secret', secret });
    await expect(verify(jwt.sign(claims, older, { keyid }))).rejects.toEqual(unauthenticated);
    await expect(tokenVerifier({ ...tokens, previousKeys: [] })(jwt.sign(claims, older))).rejects.toEqual(
      unauthenticated,
    );
  });

  it('of different kinds never verify by the algorithm of another', async () => {
    const mixed = tokenVerifier({ ...tokens, key: { kind: 'public-key', pem: pem(rsa.publicKey) } });
    expect(await mixed(jwt.sign(claims, rsa.privateKey, { algorithm: 'RS256' }))).toMatchObject({ caller });
    expect(await mixed(jwt.sign(claims, older))).toMatchObject({ caller });
    const confused = createHmac('sha256', pem(rsa.publicKey)).update(`${encode({ alg: 'HS256' })}.${encode(claims)}`);
    const token = `${encode({ alg: 'HS256' })}.${encode(claims)}.${confused.digest('base64url')}`;
    await expect(mixed(token)).rejects.toEqual(unauthenticated);
  });
});

it('a payload that is JSON within a JSON string is refused', async () => {
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(JSON.stringify(claims))}`;
  const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  await expect(verifier({ kind: 'secret', secret })(token)).rejects.toEqual(unauthenticated);
});
