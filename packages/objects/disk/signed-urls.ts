import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { keyParts, type Objects } from '../port.ts';

const PREFIX = '/objects/';
const PARAMETERS = ['expires', 'max', 'method', 'signature'];

/** The request that a URL allows, or the reason to refuse it. `maxBytes` is 0 for GET. */
export type SignedUrl = { key: string; maxBytes: number } | { refused: 'expired' | 'not-signed' };

/** Checks the URLs of presignPut and presignGet, when the gateway serves the store. */
export interface SignedUrls {
  /** `path` is the raw, percent-encoded path. A HEAD request is checked as GET. */
  verify(method: string, path: string, query: URLSearchParams, now?: Date): SignedUrl;
}

/** URLs that the gateway serves. */
export type GatewayUrls = SignedUrls & Pick<Objects, 'presignGet' | 'presignPut'>;

/** The first secret signs. URLs that were signed with one of the others are valid until they expire. */
export function urlSigner(secret: string, ...others: string[]) {
  const own = secretKey(secret);
  const secrets = [own, ...others.map(secretKey)];

  /** A path with a query that is valid for `expiresInSeconds`, one method and one key. */
  function sign(method: 'GET' | 'PUT', key: string, expiresInSeconds: number, maxBytes: number): string {
    const path = keyParts(key).map(encodeURIComponent).join('/');
    const expires = String(Math.floor(Date.now() / 1000) + expiresInSeconds);
    const max = String(maxBytes);
    const signature = signatureOf(own, method, key, expires, max);
    const query = new URLSearchParams({ expires, max, method, signature });
    return `${PREFIX}${path}?${query}`;
  }

  const urls: GatewayUrls = {
    presignPut: async (key, { expiresInSeconds, maxBytes }) => sign('PUT', key, expiresInSeconds, maxBytes),
    presignGet: async (key, { expiresInSeconds }) => sign('GET', key, expiresInSeconds, 0),
    verify(method, path, query, now = new Date()) {
      const key = decodePath(path);
      const [expires, max, signedMethod, signature] = PARAMETERS.map((name) => query.get(name));
      if (key === null || !expires || !max || !signature || query.size !== PARAMETERS.length) {
        return { refused: 'not-signed' };
      }
      const given = Buffer.from(signature);
      const isSigned = secrets.some((each) => {
        const expected = Buffer.from(signatureOf(each, method, key, expires, max));
        return given.length === expected.length && timingSafeEqual(given, expected);
      });
      if (!isSigned || signedMethod !== method) return { refused: 'not-signed' };
      return now.getTime() < Number(expires) * 1000 ? { key, maxBytes: Number(max) } : { refused: 'expired' };
    },
  };
  return { sign, ...urls };
}

function secretKey(secret: string): KeyObject {
  if (Buffer.byteLength(secret) < 32) throw new Error('The secret of object URLs must have 32 bytes or more.');
  return createSecretKey(secret, 'utf8');
}

// JSON separates the parts, so no key can be chosen that reads as another key with another limit.
function signatureOf(secret: KeyObject, method: string, key: string, expires: string, max: string): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['object-url', method, key, expires, max]))
    .digest('base64url');
}

function decodePath(path: string): string | null {
  if (!path.startsWith(PREFIX)) return null;
  try {
    return keyParts(path.slice(PREFIX.length).split('/').map(decodeURIComponent).join('/')).join('/');
  } catch {
    return null;
  }
}
