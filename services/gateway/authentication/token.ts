import { verify as verifySignature } from 'node:crypto';
import { Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import jwt from 'jsonwebtoken';
import { z } from 'zod';
import { type Caller, Role } from './caller.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { isSessionKeyId, type SessionKeys, type TokenKey, verifyingKey, type VerifyingKey } from './signing-keys.ts';

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

const MAX_TOKEN_LENGTH = 8192;
/** As key-management writes them into tokens of sessions. */
const SESSION_ISSUER = 'call-analysis-session';

/**
 * Checks the signature and claims of bearer tokens (docs/api.md, "Configuration and commands"). Rejects with
 * UNAUTHENTICATED, or UNAVAILABLE when the key of the token cannot be fetched. Each key determines its algorithm. The
 * token's header selects a key at most.
 */
export function tokenVerifier(
  rules: TokenRules,
  remote: RemoteKeys = {},
): (token: string, nowSeconds?: number) => Promise<VerifiedToken> {
  const keys = [...(rules.key === undefined ? [] : [rules.key]), ...(rules.previousKeys ?? [])].map(verifyingKey);
  const issued = claimsReader(rules.issuer, rules.audience);
  const ofSession = claimsReader(SESSION_ISSUER, SESSION_ISSUER);
  const provided = claimsReader(rules.identityProvider?.issuer ?? rules.issuer, rules.audience);

  function openLocally(token: string, { alg, kid }: TokenHeader): unknown {
    const named = keys.filter((key) => key.kid === kid);
    // Another issuer may name the same key otherwise, and tokens from before keys had ids name none.
    for (const key of named.length > 0 ? named : keys) {
      const payload = key.algorithm === alg ? openToken(token, key) : undefined;
      if (payload !== undefined) return payload;
    }
    return undefined;
  }

  return async (token, nowSeconds = Date.now() / 1000) => {
    if (token.length > MAX_TOKEN_LENGTH)
      throw unauthenticated('The bearer token is longer than any that was issued here.');
    const header = headerOf(token);
    if (header === null) throw forged();
    if (isSessionKeyId(header.kid) && remote.sessions !== undefined) {
      const key = await remote.sessions.find(header.kid);
      return ofSession(key === null ? undefined : openToken(token, { key, algorithm: 'EdDSA' }), nowSeconds);
    }
    const payload = openLocally(token, header);
    if (payload !== undefined || remote.identityProvider === undefined) return issued(payload, nowSeconds);
    return provided(await remote.identityProvider(token), nowSeconds);
  };
}

/** Reads the payload of a token, which is undefined where no key has signed it. */
function claimsReader(issuer: string, audience: string): (payload: unknown, nowSeconds: number) => VerifiedToken {
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
  return (payload, nowSeconds) => {
    if (payload === undefined) throw forged();
    const claims = ClaimsSchema.safeParse(payload);
    if (!claims.success) {
      const wrong = [...new Set(claims.error.issues.map((issue) => issue.path[0] ?? 'payload'))].join(', ');
      throw unauthenticated(`Claims of the bearer token are missing or wrong: ${wrong}. Ask for a new token.`);
    }
    const { sub, firm, role, exp, nbf, iat, sid } = claims.data;
    // Identity providers use this claim for sessions of their own.
    const session = issuer === SESSION_ISSUER ? Uuid.safeParse(sid) : undefined;
    if (session?.success === false) throw forged();
    if (nowSeconds >= exp) {
      throw unauthenticated('The bearer token has expired. Ask your system administrator for a new one.');
    }
    if (nbf !== undefined && nowSeconds < nbf) {
      throw unauthenticated(
        'The bearer token is not valid yet. Wait until its nbf, or ask your system administrator for another one.',
      );
    }
    return { caller: { userUuid: sub, firmUuid: firm, role }, issuedAt: iat, sessionUuid: session?.data };
  };
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
    if (algorithm === 'EdDSA') requireEdDsa(token, key);
    // The times are checked with the other claims, for all algorithms alike.
    else jwt.verify(token, key, { algorithms: [algorithm], ignoreExpiration: true, ignoreNotBefore: true });
    // Libraries also accept a payload that is JSON within a JSON string.
    return readPart(token.split('.')[1] ?? '');
  } catch {
    return undefined;
  }
}

/** jsonwebtoken 9 does not support EdDSA. */
function requireEdDsa(token: string, key: VerifyingKey['key']): void {
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  const isWellFormed = rest.length === 0 && headerOf(token)?.alg === 'EdDSA';
  const signed = Buffer.from(`${header}.${payload}`);
  if (!isWellFormed || !verifySignature(null, signed, key, Buffer.from(signature, 'base64url'))) throw forged();
}

function readPart(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
