import type { IncomingMessage } from 'node:http';

/** What a page of another origin may send besides what every page may. */
const REQUEST_HEADERS =
  'authorization, content-type, if-match, if-none-match, range, traceparent, x-request-id, x-service-api-key';
/** What it may read besides what every page may. */
const ANSWER_HEADERS =
  'accept-ranges, allow, content-disposition, content-range, etag, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id';
const PREFLIGHT_SECONDS = '600';

/**
 * Lets pages of some origins read answers (https://fetch.spec.whatwg.org/#http-cors-protocol); `*` is any origin.
 * Nothing here knows cookies, so credentials are never allowed.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #any: boolean;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
    this.#any = this.#origins.has('*');
  }

  /** For an answer to this request: names and values, by turns. */
  headers(request: IncomingMessage): readonly string[] {
    if (this.#origins.size === 0) return [];
    const vary = this.#any ? [] : ['vary', 'Origin'];
    if (!this.#allows(request)) return vary;
    const origin = this.#any ? '*' : (request.headers.origin ?? '');
    return [...vary, 'access-control-allow-origin', origin, 'access-control-expose-headers', ANSWER_HEADERS];
  }

  /** What a browser that asks before it sends is told besides. */
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
