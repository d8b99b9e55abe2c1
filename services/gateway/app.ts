import { IncomingMessage } from 'node:http';
import { Fault } from '@call-analysis/fault';
import {
  childTraceparent,
  currentContext,
  isRequestId,
  isTraceparent,
  type Logger,
  newContext,
  withContext,
} from '@call-analysis/runtime';
import express from 'express';
import type { Refusals } from './audit/refusals.ts';
import { logOutcome } from './http/access-log.ts';
import type { Authentication, Endpoint } from './http/endpoint.ts';
import { clientAddress, networkOf } from './http/request/client-address.ts';
import { compress } from './http/response/compress.ts';
import { Cors } from './http/response/cors.ts';
import { EdgeResponse } from './http/response/edge-response.ts';
import { errorResponse, HttpError, isBug, routeNotFound } from './http/response/http-error.ts';
import { sendJson } from './http/response/json-response.ts';
import { securityHeaders } from './http/response/security-headers.ts';
import { handler, registerEndpoints } from './http/router.ts';
import { Admission, defaultConcurrency } from './rate-limits/admission.ts';
import type { RateLimits } from './rate-limits/rate-limits.ts';

/** Handles a request up to the end of its response. Never throws. */
export type App = (request: IncomingMessage, response: EdgeResponse) => void;

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
export function createApp(options: AppOptions): App {
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
  // Responses hold conversations and keys, so no cache may keep them.
  const commonHeaders = Object.entries({ ...securityHeaders(), 'cache-control': 'no-store' });
  const cors = new Cors(corsOrigins);
  const addressOf = clientAddress(trustedProxies);
  const unlimited = new Set(endpoints.filter((each) => each.unlimited).map((each) => each.path));

  const app = express().disable('x-powered-by').enable('case sensitive routing');
  // Express changes the prototypes of every request and response to these. They have them already, so this costs
  // nothing.
  Object.assign(app, { request: IncomingMessage.prototype, response: EdgeResponse.prototype });
  app.use(
    handler((request, response, next) => {
      const context = contextOf(request);
      logOutcome(log, context, request, response);
      request.url = originForm(request.url);
      const address = addressOf(request);
      response.client = { address, network: networkOf(address) };
      response.isLast = isDraining;
      response.addHeaders(commonHeaders);
      response.addHeaders([['x-request-id', context.requestId]]);
      response.addHeaders(cors.headers(request));
      compress(request, response);
      withContext(context, next);
    }),
  );
  app.use(
    handler((request, response, next) => {
      if (!unlimited.has(request.url ?? '')) limits.countAddress(response.client.network, response);
      requireOneHost(request);
      requireClearFraming(request);
      next();
    }),
  );
  registerEndpoints(app, endpoints, { authentication, limits, admission }, cors);
  app.use(() => {
    throw routeNotFound();
  });
  // Express recognises an error handler by its four parameters.
  app.use(async function handleError(thrown: unknown, incoming: unknown, outgoing: unknown, _next: unknown) {
    const [request, response] = [incoming as IncomingMessage, outgoing as EdgeResponse];
    try {
      await sendError(thrown, request, response);
    } catch {
      request.socket.destroy();
    }
  });
  return app as unknown as App;

  async function sendError(error: unknown, request: IncomingMessage, response: EdgeResponse): Promise<void> {
    if (isClientGone(error, request)) return;
    if (isBug(error)) log.error({ err: error }, 'a request failed');
    const answer = errorResponse(error, currentContext()?.requestId ?? '');
    if (answer.status === 401 || answer.status === 403) options.refusals?.record(response, codeOf(error));
    if (response.headersSent) {
      // Part of the response has been sent. Only a broken connection can still show that it is incomplete.
      request.socket.destroy();
      return;
    }
    await sendJson(request, response, answer);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Fault || error instanceof HttpError ? error.code : 'INTERNAL';
}

/** RFC 9112, 3.2.2: a server must also accept the form that proxies receive, with the host before the path. */
function originForm(url = ''): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
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

function contextOf(request: IncomingMessage) {
  const { 'x-request-id': requestId, traceparent } = request.headers;
  const fresh = newContext();
  return {
    requestId: typeof requestId === 'string' && isRequestId(requestId) ? requestId : fresh.requestId,
    traceparent:
      typeof traceparent === 'string' && isTraceparent(traceparent) ? childTraceparent(traceparent) : fresh.traceparent,
  };
}
