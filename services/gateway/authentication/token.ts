import { createPublicKey, createSecretKey, hash, type KeyObject, verify as verifySignature } from 'node:crypto';
import { Fault } from '@call-analysis/fault';
import { StartFault } from '@call-analysis/runtime';
import jwt from 'jsonwebtoken';
import { z } from 'zod';
import { type Caller, Role } from './caller.ts';

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  /** A secret has 32 bytes or more. */
  readonly key: { kind: 'secret'; secret: string } | { kind: 'public-key'; pem: string };
}

/** The claims of a valid token. Times are Unix seconds. */
interface Claims {
  readonly caller: Caller;
  readonly exp: number;
  readonly nbf: number | undefined;
}

type Algorithm = 'HS256' | 'RS256' | 'ES256' | 'EdDSA';

const MAX_TOKEN_LENGTH = 8192;
const MAX_VERIFIED = 10_000;

const Uuid = z.guid().toLowerCase();

/**
 * Checks the signature and claims of bearer tokens (docs/api.md, "Configuration and commands"). Throws UNAUTHENTICATED.
 * The configured key determines the algorithm. The token's header cannot choose another.
 */
export function tokenVerifier(rules: TokenRules): (token: string, nowSeconds?: number) => Caller {
  const key = readKey(rules.key);
  const algorithm = algorithmOf(key);
  const ClaimsSchema = z.object({
    sub: Uuid,
    firm: Uuid,
    role: Role,
    iss: z.literal(rules.issuer),
    aud: z.union([z.literal(rules.audience), z.array(z.string()).refine((each) => each.includes(rules.audience))]),
    exp: z.number(),
    nbf: z.number().optional(),
  });

  function claimsOf(token: string): Claims {
    const payload = algorithm === 'EdDSA' ? openEdDsa(token, key) : open(token, key, algorithm);
    const claims = ClaimsSchema.safeParse(payload);
    if (!claims.success) {
      const wrong = [...new Set(claims.error.issues.map((issue) => issue.path[0] ?? 'payload'))].join(', ');
      throw unauthenticated(`Claims of the bearer token are missing or wrong: ${wrong}. Ask for a new token.`);
    }
    const { sub, firm, role, exp, nbf } = claims.data;
    return { caller: { userUuid: sub, firmUuid: firm, role }, exp, nbf };
  }

  /** A verified signature stays valid; only the times must be checked again. By hash, so that a memory dump shows no tokens. */
  const verified = new Map<string, Claims>();

  function verifiedClaimsOf(token: string): Claims {
    const digest = hash('sha256', token, 'base64');
    const known = verified.get(digest);
    if (known !== undefined) return known;
    const claims = claimsOf(token);
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
    const { caller, exp, nbf } = verifiedClaimsOf(token);
    if (nowSeconds >= exp) {
      throw unauthenticated('The bearer token has expired. Ask your system administrator for a new one.');
    }
    if (nbf !== undefined && nowSeconds < nbf) {
      throw unauthenticated('The bearer token is not valid yet.');
    }
    return caller;
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

function open(token: string, key: KeyObject, algorithm: Exclude<Algorithm, 'EdDSA'>): unknown {
  try {
    // The times are checked with the other claims, for all algorithms alike.
    const { header } = jwt.verify(token, key, {
      algorithms: [algorithm],
      complete: true,
      ignoreExpiration: true,
      ignoreNotBefore: true,
    });
    requireKnownHeader(header);
    // jsonwebtoken also parses a payload that is a JSON text within a JSON string.
    return readPart(token.split('.')[1] ?? '');
  } catch {
    throw forged();
  }
}

/** jsonwebtoken 9 does not support EdDSA. */
function openEdDsa(token: string, key: KeyObject): unknown {
  try {
    const [header = '', payload = '', signature = '', ...rest] = token.split('.');
    const { alg } = requireKnownHeader(readPart(header));
    const signed = verifySignature(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'));
    if (alg !== 'EdDSA' || !signed || rest.length > 0) throw forged();
    return readPart(payload);
  } catch {
    throw forged();
  }
}

function readPart(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}

/** RFC 7515, 4.1.11: a token with unknown critical extensions must be refused. */
function requireKnownHeader(header: unknown): { alg?: unknown } {
  if (typeof header !== 'object' || header === null || 'crit' in header) throw forged();
  return header;
}

function readKey(key: TokenRules['key']): KeyObject {
  if (key.kind === 'secret') {
    if (Buffer.byteLength(key.secret) < 32) throw new StartFault('The JWT secret must have 32 bytes or more.');
    return createSecretKey(key.secret, 'utf8');
  }
  try {
    return createPublicKey(key.pem);
  } catch (cause) {
    throw new StartFault('The JWT public key is not a public key in PEM form.', { cause });
  }
}

function algorithmOf(key: KeyObject): Algorithm {
  if (key.type === 'secret') return 'HS256';
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= 2048) return 'RS256';
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256';
  if (type === 'ed25519' || type === 'ed448') return 'EdDSA';
  throw new StartFault('The JWT public key must be RSA of 2,048 bits or more, EC on P-256, Ed25519 or Ed448.');
}
