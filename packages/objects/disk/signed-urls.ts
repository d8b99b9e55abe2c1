import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { keyParts } from '../key.ts';

const PREFIX = '/objects/';
const PARAMETERS = ['expires', 'max', 'method', 'signature'];

/** What a URL allows its holder, or why it allows nothing. `maxBytes` is 0 for GET. */
export type SignedUrl = { key: string; maxBytes: number } | { refused: 'expired' | 'not-signed' };

/** Checks the URLs that presignPut and presignGet made, when the store is served by the gateway. */
export interface SignedUrls {
  /** `path` is the raw path with its percent signs. A HEAD is asked for as a GET. */
  verify(method: string, path: string, query: URLSearchParams, now?: Date): SignedUrl;
}

export class UrlSigner implements SignedUrls {
  readonly #secret: KeyObject;

  constructor(secret: string) {
    if (Buffer.byteLength(secret) < 32) throw new Error('The secret of object URLs must have 32 bytes or more.');
    this.#secret = createSecretKey(secret, 'utf8');
  }

  /** A path with a query; lives for `expiresInSeconds`, for one method and one key. */
  sign(method: 'GET' | 'PUT', key: string, expiresInSeconds: number, maxBytes: number): string {
    const path = keyParts(key).map(encodeURIComponent).join('/');
    const expires = String(Math.floor(Date.now() / 1000) + expiresInSeconds);
    const max = String(maxBytes);
    const query = new URLSearchParams({ expires, max, method, signature: this.#signature(method, key, expires, max) });
    return `${PREFIX}${path}?${query}`;
  }

  verify(method: string, path: string, query: URLSearchParams, now: Date = new Date()): SignedUrl {
    const key = decodePath(path);
    const [expires, max, signedMethod, signature] = PARAMETERS.map((name) => query.get(name));
    if (key === null || !expires || !max || !signature || query.size !== PARAMETERS.length) {
      return { refused: 'not-signed' };
    }
    const expected = Buffer.from(this.#signature(method, key, expires, max));
    const given = Buffer.from(signature);
    const signed = given.length === expected.length && timingSafeEqual(given, expected) && signedMethod === method;
    if (!signed) return { refused: 'not-signed' };
    return now.getTime() < Number(expires) * 1000 ? { key, maxBytes: Number(max) } : { refused: 'expired' };
  }

  // JSON keeps the parts apart: no key can be chosen that reads as another key with another limit.
  #signature(method: string, key: string, expires: string, max: string): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify(['object-url', method, key, expires, max]))
      .digest('base64url');
  }
}

function decodePath(path: string): string | null {
  if (!path.startsWith(PREFIX)) return null;
  try {
    return keyParts(path.slice(PREFIX.length).split('/').map(decodeURIComponent).join('/')).join('/');
  } catch {
    return null;
  }
}
