import cors from 'cors';
import type { RequestHandler } from 'express';

/** Headers that a page may send besides those that every page may. */
const REQUEST_HEADERS =
  'authorization, content-type, if-match, if-none-match, range, traceparent, x-request-id, x-service-api-key';
/** Headers that a page may read besides those that every page may. */
const RESPONSE_HEADERS =
  'accept-ranges, allow, content-disposition, content-range, etag, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id';
const PREFLIGHT_SECONDS = 600;

/**
 * Lets pages of these origins (`*` for any) read responses. `allow` lists the methods of a path, for preflight requests.
 * Credentials are never allowed, because the API uses no cookies.
 */
export function corsHeaders(origins: readonly string[], allow?: string): RequestHandler {
  return cors({
    origin: origins.includes('*') ? '*' : [...origins],
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    preflightContinue: true,
    ...(allow !== undefined && { methods: allow }),
  });
}
