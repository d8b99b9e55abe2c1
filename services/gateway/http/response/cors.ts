import type { IncomingMessage } from 'node:http';

/** Headers that a page may send besides those that every page may. */
const REQUEST_HEADERS =
  'authorization, content-type, if-match, if-none-match, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, range, traceparent, x-request-id, x-service-api-key';
/** Headers that a page may read besides those that every page may. */
const RESPONSE_HEADERS =
  'accept-ranges, allow, content-disposition, content-range, etag, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id';
const PREFLIGHT_SECONDS = '600';

type Header = readonly [name: string, value: string];

/**
 * Lets pages of some origins read responses (https://fetch.spec.whatwg.org/#http-cors-protocol). `*` is any origin.
 * Credentials are never allowed: the only cookie is that of a session, which other origins must not use.
 *
 * The cors package is not used because it sends the methods and headers to other origins too, and the same methods for
 * every path.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #any: boolean;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
    this.#any = this.#origins.has('*');
  }

  /** For every response. */
  headers(request: IncomingMessage): readonly Header[] {
    if (this.#origins.size === 0) return [];
    const vary: readonly Header[] = this.#any ? [] : [['vary', 'Origin']];
    if (!this.#allows(request)) return vary;
    const origin = this.#any ? '*' : (request.headers.origin ?? '');
    return [...vary, ['access-control-allow-origin', origin], ['access-control-expose-headers', RESPONSE_HEADERS]];
  }

  /** More headers for the response to a preflight request. `allow` lists the methods of the path. */
  preflight(request: IncomingMessage, allow: string): Record<string, string> {
    if (!this.#allows(request)) return {};
    return {
      'access-control-allow-methods': allow,
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': PREFLIGHT_SECONDS,
    };
  }

  #allows({ headers: { origin } }: IncomingMessage): boolean {
    return origin !== undefined && (this.#any || this.#origins.has(origin));
  }
}
