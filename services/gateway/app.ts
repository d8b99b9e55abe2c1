import type { IncomingMessage, RequestListener } from 'node:http';
import { currentContext, incomingContext, type Logger, withContext } from '@call-analysis/runtime';
import express, { type NextFunction, type Request } from 'express';
import onHeaders from 'on-headers';
import type { Refusals } from './audit/refusals.ts';
import { logOutcome } from './http/access-log.ts';
import { type Authentication, type Endpoint, registerEndpoints } from './http/endpoint.ts';
import { Admission, defaultConcurrency } from './http/rate-limits/admission.ts';
import type { RateLimits } from './http/rate-limits/rate-limits.ts';
import { clientAddress, networkOf } from './http/request/client-address.ts';
import { compressed, commonHeaders, sharing } from './http/response/headers.ts';
import {
  errorResponse,
  headTooLarge,
  HttpError,
  isBug,
  MAX_HEAD_BYTES,
  routeNotFound,
} from './http/response/http-error.ts';
import { type Response, send } from './http/response/send.ts';

interface AppOptions {
  readonly endpoints: readonly Endpoint[];
  readonly authentication: Authentication;
  readonly limits: RateLimits;
  /** Records refused requests in the audit log. */
  readonly refusals?: Refusals | undefined;
  /** Default: the limits of a process without settings. */
  readonly admission?: Admission;
  readonly log: Logger;
  readonly isDraining: () => boolean;
  /** Origins whose pages may read responses. */
  readonly corsOrigins?: readonly string[];
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies?: readonly string[];
}

/** The express app. A request passes through the middleware in the order below. */
export function createApp(options: AppOptions): RequestListener {
  const {
    endpoints,
    authentication,
    limits,
    admission = new Admission(defaultConcurrency),
    log,
    isDraining,
    corsOrigins = [],
    trustedProxies = [],
  } = options;
  const addressOf = clientAddress(trustedProxies);
  const unlimited = new Set(endpoints.filter((each) => each.unlimited).map((each) => each.path));

  const app = express().disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.use((request, response: Response, next) => {
    const incoming = incomingContext(request.headers['x-request-id'], request.headers.traceparent);
    request.url = originForm(request.url);
    const address = addressOf(request);
    response.locals = { client: { address, network: networkOf(address) }, logFields: {} };
    logOutcome(log, incoming, request, response);
    // Those of the log, the limits, the compressor and a stream that ends in the response are more than Node's ten.
    response.setMaxListeners(MAX_LISTENERS);
    response.setHeaders(commonHeaders).setHeader('X-Request-Id', incoming.context.requestId);
    onHeaders(response, () => {
      if (isDraining()) response.setHeader('Connection', 'close');
    });
    withContext(incoming.context, next);
  });
  app.use(compressed);
  if (corsOrigins.length > 0) app.use(sharing(corsOrigins));
  app.use((request, response: Response, next) => {
    if (!unlimited.has(request.url)) limits.countAddress(response.locals.client.network, response);
    requireShortHead(request);
    requireOneHost(request);
    requireClearFraming(request);
    next();
  });
  registerEndpoints(app, endpoints, { authentication, limits, admission });
  app.use(() => {
    throw routeNotFound();
  });
  // Express recognises an error handler by its four parameters.
  app.use(async (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    try {
      await sendError(error, request, response);
    } catch {
      request.socket.destroy();
    }
  });
  return app;

  async function sendError(error: unknown, request: Request, response: Response): Promise<void> {
    if (isClientGone(error, request)) return;
    if (isBug(error)) log.error({ err: error }, 'a request failed');
    const answer = errorResponse(error, currentContext()?.requestId ?? '');
    if (answer.status === 401 || answer.status === 403) options.refusals?.record(response.locals, answer.body.code);
    if (response.headersSent) {
      // Part of the response has been sent. Only a broken connection can still show that it is incomplete.
      request.socket.destroy();
      return;
    }
    await send(response, answer);
  }
}

const MAX_LISTENERS = 20;

/** RFC 9112, 3.2.2: a server must also accept the form that proxies receive, with the host before the path. */
function originForm(url = ''): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Node counts only names and values, which are half of a head of many short headers. */
function requireShortHead({ method, originalUrl, httpVersion, rawHeaders }: Request): void {
  const requestLine = `${method} ${originalUrl} HTTP/${httpVersion}\r\n`;
  // Behind each name and each value there are two more bytes.
  const bytes = rawHeaders.reduce((sum, { length }) => sum + length + 2, requestLine.length);
  if (bytes > MAX_HEAD_BYTES) throw headTooLarge();
}

/** RFC 9112, 3.2. With several, a proxy in front may have chosen another one than we would. */
function requireOneHost(request: IncomingMessage): void {
  const hosts = request.headersDistinct['host']?.length ?? 0;
  if (hosts > 1) throw new HttpError(400, 'INVALID_REQUEST', 'Send one Host header, not several.');
  if (hosts === 0 && request.httpVersion === '1.1') throw new HttpError(400, 'INVALID_REQUEST', 'Send a Host header.');
}

/**
 * RFC 9112, 6.1 and 6.3. A proxy in front may find another end of a body that is not framed by `chunked` alone, or that
 * an HTTP/1.0 client sends in chunks. The next request on such a connection cannot be trusted.
 */
function requireClearFraming(request: IncomingMessage): void {
  const { 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined) return;
  if (request.httpVersion === '1.0') {
    throw new HttpError(400, 'INVALID_REQUEST', 'HTTP/1.0 has no Transfer-Encoding. Send Content-Length.', CLOSE);
  }
  if (encoding.trim().toLowerCase() !== 'chunked') {
    const message = 'The only Transfer-Encoding that is accepted is `chunked`. Send the body uncompressed.';
    throw new HttpError(400, 'INVALID_REQUEST', message, CLOSE);
  }
}

const CLOSE = { connection: 'close' };

/** A client may disconnect at any moment. The request's log line records that; there is nobody to send an error to. */
function isClientGone(error: unknown, request: IncomingMessage): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return request.socket.destroyed && (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET');
}
