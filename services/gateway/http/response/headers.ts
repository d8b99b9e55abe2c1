import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { constants } from 'node:zlib';
import compression from 'compression';
import cors, { type CorsOptionsDelegate } from 'cors';
import type { Request, RequestHandler } from 'express';
import helmet from 'helmet';
import type { Response } from './send.ts';

/** A shorter response fits in one packet anyway. */
const COMPRESSED_BYTES = 1024;
const PREFLIGHT_SECONDS = 600;
/** Headers that a page may send besides those that every page may. */
const REQUEST_HEADERS =
  'authorization, content-type, if-match, if-none-match, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, range, traceparent, x-request-id, x-service-api-key';
/** Headers that a page may read besides those that every page may. */
const RESPONSE_HEADERS =
  'accept-ranges, allow, content-disposition, content-range, etag, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id';

/** Of every response that is data. Headers that only concern pages or old browsers are left out. */
export const commonHeaders: Map<string, string> = headersOf(
  helmet({
    contentSecurityPolicy: policy({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] }),
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  }),
)
  // Responses hold conversations and keys, so no cache may keep them.
  .set('Cache-Control', 'no-store');

function headersOf(middleware: (request: IncomingMessage, response: ServerResponse, next: () => void) => void) {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  middleware(response.req, response, () => {});
  return new Map(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
}

/** All headers of helmet, with the content security policy of a page. */
export function securePage(response: Response, directives: Record<string, readonly string[]>): void {
  helmet({ contentSecurityPolicy: policy(directives) })(response.req, response, () => {});
}

function policy(directives: Record<string, readonly string[]>) {
  return { useDefaults: false, directives };
}

/**
 * Lets pages of some origins read responses; `*` is any origin. Credentials are never allowed: the only cookie is that
 * of a session, which other origins must not use. The methods of a preflight are those of its route.
 */
export function sharing(origins: readonly string[]): RequestHandler {
  const isAny = origins.includes('*');
  const shared = {
    origin: isAny ? '*' : true,
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    preflightContinue: true,
  };
  const choose: CorsOptionsDelegate<Request> = ({ headers: { origin = '' }, res }, use) => {
    if (!isAny) res?.vary('Origin');
    // The package would send `exposedHeaders` to every origin.
    use(
      null,
      origins.includes(origin) || (isAny && origin !== '') ? shared : { origin: false, preflightContinue: true },
    );
  };
  return cors(choose);
}

/**
 * Compresses text for clients that accept it. Not server-sent events, which would wait in the compressor, and not files,
 * because ranges of them are bytes of the file. Brotli of quality 4 compresses JSON better than gzip in the same time; a
 * window of 256 KiB needs a tenth of the memory of the default one, and pages are rarely larger.
 */
export const compressed: RequestHandler = compression({
  threshold: COMPRESSED_BYTES,
  brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 } },
  filter(request, response) {
    if (response.hasHeader('content-range') || response.hasHeader('accept-ranges')) return false;
    if (/^text\/event-stream\b/i.test(String(response.getHeader('content-type') ?? ''))) return false;
    return compression.filter(request, response);
  },
});
