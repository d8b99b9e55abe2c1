import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import { keyIdOf, readPem } from '@call-analysis/gateway/variables';
import { StartFault } from '@call-analysis/runtime';
import { type JWTPayload, SignJWT } from 'jose';
import type { JwtSettings } from '../config.ts';

interface TokenUser {
  readonly uuid: string;
  readonly firm_uuid: string;
  readonly role: string;
  readonly tokens_revoked_before?: string;
}

/**
 * A bearer token with the claims that the gateway requires (docs/api.md, "Keys and users"). `storedSecret`, of the data
 * directory, signs when the settings have no key.
 */
export async function issueToken(
  settings: JwtSettings,
  storedSecret: string | undefined,
  user: TokenUser,
  ttlMs: number,
  tokenUuid: string,
) {
  const key = signingKey(settings, storedSecret);
  // Seconds are cut off. A token that is issued after a revocation in the same second must not count as issued before it.
  const revokedBefore = Date.parse(user.tokens_revoked_before ?? '1970-01-01T00:00:00Z');
  const issuedAt = Math.max(Math.floor(Date.now() / 1000), Math.ceil(revokedBefore / 1000));
  const expiresAt = issuedAt + Math.max(1, Math.floor(ttlMs / 1000));
  const claims = {
    sub: user.uuid,
    firm: user.firm_uuid,
    role: user.role,
    iss: settings.issuer,
    aud: settings.audience,
    iat: issuedAt,
    exp: expiresAt,
    jti: tokenUuid,
  };
  return {
    token: await sign(claims, key.signing, key.kid),
    expires_at: new Date(expiresAt * 1000).toISOString(),
    user: { uuid: user.uuid, firm_uuid: user.firm_uuid, role: user.role },
  };
}

/** By the types of private keys. */
const ALGORITHMS: Readonly<Record<string, string>> = { rsa: 'RS256', ec: 'ES256', ed25519: 'EdDSA' };

function sign(claims: JWTPayload, key: KeyObject, kid: string): Promise<string> {
  const { asymmetricKeyType: type } = key;
  const alg = type === undefined ? 'HS256' : ALGORITHMS[type];
  if (alg === undefined)
    throw new StartFault(`Tokens cannot be issued with a key of type ${type}; use RSA, P-256 or Ed25519.`);
  return new SignJWT(claims).setProtectedHeader({ alg, typ: 'JWT', kid }).sign(key);
}

/**
 * With several public keys, the private key may belong to any of them: every gateway knows the new public key before the
 * first token is signed with it.
 */
function signingKey(
  { key, previousKeys = [], privateKeyFile }: JwtSettings,
  storedSecret: string | undefined,
): { signing: KeyObject; kid: string } {
  if (key?.kind !== 'public-key') {
    const secret = key?.secret ?? storedSecret;
    if (secret !== undefined) {
      return { signing: createSecretKey(Buffer.from(secret)), kid: keyIdOf({ kind: 'secret', secret }) };
    }
    throw new StartFault(
      "To issue a token, set JWT_SECRET to the gateway's secret, or set JWT_PUBLIC_KEY_FILE and JWT_PRIVATE_KEY_FILE.",
    );
  }
  if (privateKeyFile === undefined) {
    throw new StartFault(
      'Tokens are checked with JWT_PUBLIC_KEY_FILE. To issue one here, set JWT_PRIVATE_KEY_FILE too.',
    );
  }
  const signing = readPem('JWT_PRIVATE_KEY_FILE', privateKeyFile, createPrivateKey);
  const verifying = createPublicKey(signing);
  const own = [key, ...previousKeys].find(
    (each) => each.kind === 'public-key' && verifying.equals(createPublicKey(each.pem)),
  );
  if (own === undefined) {
    throw new StartFault(
      'JWT_PRIVATE_KEY_FILE and JWT_PUBLIC_KEY_FILE do not belong together, so no token would be valid.',
    );
  }
  return { signing, kid: keyIdOf(own) };
}
