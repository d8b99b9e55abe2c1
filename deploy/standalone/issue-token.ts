import { createPrivateKey, createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StartFault } from '@call-analysis/runtime';
import jwt from 'jsonwebtoken';
import type { Settings } from './config.ts';

export interface TokenUser {
  readonly uuid: string;
  readonly firm_uuid: string;
  readonly role: string;
}

/** A bearer token with the claims that the gateway requires (api.md, section 9). */
export function issueToken(settings: Settings['jwt'], keptSecret: string, user: TokenUser, ttlMs: number) {
  const issuedAt = Math.floor(Date.now() / 1000);
  const expiresAt = issuedAt + Math.max(1, Math.floor(ttlMs / 1000));
  const claims = {
    sub: user.uuid,
    firm: user.firm_uuid,
    role: user.role,
    iss: settings.issuer,
    aud: settings.audience,
    iat: issuedAt,
    exp: expiresAt,
  };
  const { key, algorithm } = signingKey(settings, keptSecret);
  return {
    token: jwt.sign(claims, key, { algorithm }),
    expires_at: new Date(expiresAt * 1000).toISOString(),
    user: { uuid: user.uuid, firm_uuid: user.firm_uuid, role: user.role },
  };
}

function signingKey(settings: Settings['jwt'], keptSecret: string) {
  if (settings.publicKeyFile === undefined) {
    return { key: createSecretKey(Buffer.from(settings.secret ?? keptSecret)), algorithm: 'HS256' as const };
  }
  if (settings.privateKeyFile === undefined) {
    throw new StartFault('Tokens are checked with JWT_PUBLIC_KEY_FILE. To issue one here, set JWT_PRIVATE_KEY_FILE too.');
  }
  const key = createPrivateKey(readFileSync(settings.privateKeyFile));
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return { key, algorithm: 'RS256' as const };
    case 'ec':
      return { key, algorithm: 'ES256' as const };
    default:
      throw new StartFault(`Tokens cannot be issued with a key of type ${key.asymmetricKeyType}; use RSA or P-256.`);
  }
}
