import { verify as verifySignature } from 'node:crypto';
import jwt from 'jsonwebtoken';
import type { Algorithm, VerifyingKey } from './signing-keys.ts';

/** The part of a token's header that selects a key. Nothing in it is trusted. */
export interface TokenHeader {
  readonly alg: unknown;
  readonly kid: unknown;
}

/** The header of a token, whose signature has not been verified. Null when it has none, or unknown critical extensions. */
export function headerOf(token: string): TokenHeader | null {
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
export function openToken(token: string, { key, algorithm }: Pick<VerifyingKey, 'key' | 'algorithm'>): unknown {
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
