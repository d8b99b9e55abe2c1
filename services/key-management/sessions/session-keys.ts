import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { User } from '../domain.ts';

/** Gateways accept tokens with this issuer and audience under a session key alone. */
const SESSION_ISSUER = 'call-analysis-session';
const TOKEN_TTL_SECONDS = 15 * 60;

/** PKCS #8 of an Ed25519 key, up to its 32 bytes (RFC 8410, 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A key that signs the bearer tokens of sessions, with what gateways need to verify them. */
export interface SessionKey {
  readonly kid: string;
  readonly signing: KeyObject;
  /** SPKI. */
  readonly pem: string;
}

/** A key that follows from the pepper: every process has the same one, and no secret is stored. */
export function sessionKey(pepper: string): SessionKey {
  const seed = hkdfSync('sha256', Buffer.from(pepper, 'utf8'), Buffer.alloc(0), 'tokens of sessions', 32);
  const signing = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, Buffer.from(seed)]),
    format: 'der',
    type: 'pkcs8',
  });
  const verifying = createPublicKey(signing);
  const { x = '' } = verifying.export({ format: 'jwk' });
  return {
    kid: `session-${x.slice(0, 16)}`,
    signing,
    pem: verifying.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** A bearer token of 15 minutes that ends with its session. */
export function sessionToken(
  { kid, signing }: SessionKey,
  user: Pick<User, 'uuid' | 'firmUuid' | 'role' | 'tokensRevokedBefore'>,
  sessionUuid: string,
  nowMs: number,
): { token: string; expiresAt: Date } {
  // Seconds are cut off. A token that was issued after a revocation in the same second must not count as issued before it.
  const iat = Math.max(Math.floor(nowMs / 1000), Math.ceil((user.tokensRevokedBefore?.getTime() ?? 0) / 1000));
  const exp = iat + TOKEN_TTL_SECONDS;
  const claims = {
    sub: user.uuid,
    firm: user.firmUuid,
    role: user.role,
    sid: sessionUuid,
    iss: SESSION_ISSUER,
    aud: SESSION_ISSUER,
    iat,
    exp,
    jti: randomUUID(),
  };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'EdDSA', typ: 'JWT', kid })}.${part(claims)}`;
  return {
    token: `${signed}.${sign(null, Buffer.from(signed), signing).toString('base64url')}`,
    expiresAt: new Date(exp * 1000),
  };
}
