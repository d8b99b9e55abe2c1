import { hash, verify as verifySignature } from 'node:crypto';
import { Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import jwt from 'jsonwebtoken';
import { z } from 'zod';
import { type Caller, Role } from './caller.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { isSessionKeyId, type SessionKeys } from './session-keys.ts';
import { type Algorithm, type TokenKey, verifyingKey, type VerifyingKey } from './signing-keys.ts';

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  /** Tokens are issued with this key. Undefined: only an identity provider issues tokens. */
  readonly key: TokenKey | undefined;
  /** Keys that tokens were issued with before. */
  readonly previousKeys?: readonly TokenKey[] | undefined;
  /** Issues tokens too, under keys that it publishes. */
  readonly identityProvider?: { readonly jwksUrl: string; readonly issuer: string } | undefined;
}

/** Keys that are not in the configuration. */
export interface RemoteKeys {
  readonly sessions?: SessionKeys | undefined;
  readonly identityProvider?: IdentityProvider | undefined;
}

/** A token whose signature, claims and times are right. */
export interface VerifiedToken {
  readonly caller: Caller;
  /** Unix seconds. Undefined when the token does not say. */
  readonly issuedAt: number | undefined;
  /** The session that the token ends with. */
  readonly sessionUuid: string | undefined;
}

/** The claims of a signed token. Times are Unix seconds. */
interface Claims {
  readonly token: VerifiedToken;
  readonly exp: number;
  readonly nbf: number | undefined;
  /** When the signature must be verified again, in milliseconds of the process. */
  readonly recheckAt: number;
}

const MAX_TOKEN_LENGTH = 8192;
const MAX_VERIFIED = 10_000;
/** As key-management writes them into tokens of sessions. */
const SESSION_ISSUER = 'call-analysis-session';
/** A key that its owner has withdrawn is used no longer than this. */
const REMOTE_KEY_TTL_MS = 5 * 60_000;

/**
 * Checks the signature and claims of bearer tokens (docs/api.md, "Configuration and commands"). Throws UNAUTHENTICATED,
 * or UNAVAILABLE when the key of the token cannot be fetched. Each key determines its algorithm. The token's header
 * selects a key at most. Returns a promise only when a key must be fetched.
 */
export function tokenVerifier(
  rules: TokenRules,
  remote: RemoteKeys = {},
): (token: string, nowSeconds?: number) => VerifiedToken | Promise<VerifiedToken> {
  const keys = [...(rules.key === undefined ? [] : [rules.key]), ...(rules.previousKeys ?? [])].map(verifyingKey);
  const issued = claimsReader(rules.issuer, rules.audience);
  const ofSession = claimsReader(SESSION_ISSUER, SESSION_ISSUER);
  const provided = claimsReader(rules.identityProvider?.issuer ?? rules.issuer, rules.audience);

  /** A verified signature stays valid; only the times must be checked again. By hash, so that a memory dump shows no tokens. */
  const verified = new Map<string, Claims>();

  function verify(token: string): Claims | Promise<Claims> {
    const header = headerOf(token);
    if (header === null) throw forged();
    if (isSessionKeyId(header.kid) && remote.sessions !== undefined) {
      return verifyOfSession(token, header.kid, remote.sessions);
    }
    const payload = openLocally(token, header);
    if (payload !== undefined) return issued(payload, Number.POSITIVE_INFINITY);
    if (remote.identityProvider !== undefined) return verifyProvided(token, header.alg, remote.identityProvider);
    throw forged();
  }

  function openLocally(token: string, { alg, kid }: TokenHeader): unknown {
    const named = keys.filter((key) => key.kid === kid);
    // Another issuer may name the same key otherwise, and tokens from before keys had ids name none.
    for (const key of named.length > 0 ? named : keys) {
      const payload = key.algorithm === alg ? openToken(token, key) : undefined;
      if (payload !== undefined) return payload;
    }
    return undefined;
  }

  async function verifyOfSession(token: string, kid: string, sessions: SessionKeys): Promise<Claims> {
    const key = await sessions.find(kid);
    const payload = key === null ? undefined : openToken(token, { key, algorithm: 'EdDSA' });
    if (payload === undefined) throw forged();
    return ofSession(payload, performance.now() + REMOTE_KEY_TTL_MS);
  }

  async function verifyProvided(token: string, alg: unknown, provider: IdentityProvider): Promise<Claims> {
    const payload = await provider.open(token, alg);
    if (payload === undefined) throw forged();
    return provided(payload, performance.now() + REMOTE_KEY_TTL_MS);
  }

  function remember(digest: string, claims: Claims): Claims {
    verified.set(digest, claims);
    if (verified.size > MAX_VERIFIED) {
      const [oldest] = verified.keys();
      if (oldest !== undefined) verified.delete(oldest);
    }
    return claims;
  }

  return (token, nowSeconds = Date.now() / 1000) => {
    if (token.length > MAX_TOKEN_LENGTH)
      throw unauthenticated('The bearer token is longer than any that was issued here.');
    const digest = hash('sha256', token, 'base64');
    const known = verified.get(digest);
    if (known !== undefined && performance.now() < known.recheckAt) return inTime(known, nowSeconds);
    verified.delete(digest);
    const claims = verify(token);
    if (claims instanceof Promise) return claims.then((read) => inTime(remember(digest, read), nowSeconds));
    return inTime(remember(digest, claims), nowSeconds);
  };
}

function claimsReader(issuer: string, audience: string): (payload: unknown, recheckAt: number) => Claims {
  const ClaimsSchema = z.object({
    sub: Uuid,
    firm: Uuid,
    role: Role,
    iss: z.literal(issuer),
    aud: z.union([z.literal(audience), z.array(z.string()).refine((each) => each.includes(audience))]),
    exp: z.number(),
    nbf: z.number().optional(),
    iat: z.number().optional(),
    sid: z.unknown().optional(),
  });
  return (payload, recheckAt) => {
    const claims = ClaimsSchema.safeParse(payload);
    if (!claims.success) {
      const wrong = [...new Set(claims.error.issues.map((issue) => issue.path[0] ?? 'payload'))].join(', ');
      throw unauthenticated(`Claims of the bearer token are missing or wrong: ${wrong}. Ask for a new token.`);
    }
    const { sub, firm, role, exp, nbf, iat, sid } = claims.data;
    // Identity providers use this claim for sessions of their own.
    const session = issuer === SESSION_ISSUER ? Uuid.safeParse(sid) : undefined;
    if (session?.success === false) throw forged();
    const caller = { userUuid: sub, firmUuid: firm, role };
    return { token: { caller, issuedAt: iat, sessionUuid: session?.data }, exp, nbf, recheckAt };
  };
}

function inTime({ token, exp, nbf }: Claims, nowSeconds: number): VerifiedToken {
  if (nowSeconds >= exp) {
    throw unauthenticated('The bearer token has expired. Ask your system administrator for a new one.');
  }
  if (nbf !== undefined && nowSeconds < nbf) {
    throw unauthenticated(
      'The bearer token is not valid yet. Wait until its nbf, or ask your system administrator for another one.',
    );
  }
  return token;
}

export function unauthenticated(message: string): Fault {
  return new Fault('unauthenticated', 'UNAUTHENTICATED', message);
}

function forged(): Fault {
  return unauthenticated(
    'The bearer token is malformed or has a wrong signature. Send one that your administrator issued.',
  );
}

/** The part of a token's header that selects a key. Nothing in it is trusted. */
interface TokenHeader {
  readonly alg: unknown;
  readonly kid: unknown;
}

/** The header of a token, whose signature has not been verified. Null when it has none, or unknown critical extensions. */
function headerOf(token: string): TokenHeader | null {
  try {
    const header = readPart(token.slice(0, token.indexOf('.')));
    // RFC 7515, 4.1.11: a token with unknown critical extensions must be refused.
    if (typeof header !== 'object' || header === null || 'crit' in header) return null;
    return { alg: Reflect.get(header, 'alg'), kid: Reflect.get(header, 'kid') };
  } catch {
    return null;
  }
}

/** The payload of a token, or undefined when this key did not sign it by its own algorithm. */
function openToken(token: string, { key, algorithm }: Pick<VerifyingKey, 'key' | 'algorithm'>): unknown {
  try {
    const isSigned = algorithm === 'EdDSA' ? isSignedByEdDsa(token, key) : isSignedByLibrary(token, key, algorithm);
    // Libraries also accept a payload that is JSON within a JSON string.
    return isSigned ? readPart(token.split('.')[1] ?? '') : undefined;
  } catch {
    return undefined;
  }
}

function isSignedByLibrary(token: string, key: VerifyingKey['key'], algorithm: Exclude<Algorithm, 'EdDSA'>): boolean {
  // The times are checked with the other claims, for all algorithms alike.
  jwt.verify(token, key, { algorithms: [algorithm], ignoreExpiration: true, ignoreNotBefore: true });
  return true;
}

/** jsonwebtoken 9 does not support EdDSA. */
function isSignedByEdDsa(token: string, key: VerifyingKey['key']): boolean {
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  if (rest.length > 0 || headerOf(token)?.alg !== 'EdDSA') return false;
  return verifySignature(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'));
}

function readPart(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
