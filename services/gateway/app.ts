import { IncomingMessage } from 'node:http';
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
import { logOutcome } from './http/access-log.ts';
import { type Endpoint, type Gates, run } from './http/endpoint.ts';
import { addressOf, networkOf } from './http/request/client-address.ts';
import { headerValues } from './http/request/header-values.ts';
import { Cors } from './http/response/cors.ts';
import { EdgeResponse } from './http/response/edge-response.ts';
import { isBug, noSuchRoute, Problem, problemAnswer } from './http/response/http-error.ts';
import { send } from './http/response/json-response.ts';
import { securityHeaders } from './http/response/security-headers.ts';
import { endpointFor, routerOf } from './http/router.ts';
import type { RateLimits } from './rate-limits/rate-limits.ts';

/** Sees a request through to its answer, and never fails. */
export type App = (request: IncomingMessage, response: EdgeResponse) => void;

/** The order in which a request passes through the edge. */
export function createApp(parts: {
  endpoints: readonly Endpoint[];
  gates: Gates;
  limits: RateLimits;
  log: Logger;
  isDraining: () => boolean;
  /** Origins whose pages may read answers. */
  corsOrigins?: readonly string[];
  /** Addresses and networks of proxies that are believed when they say whom they speak for. */
  trustedProxies?: readonly string[];
}): App {
  const { endpoints, gates, limits, log, isDraining } = parts;
  const find = routerOf(endpoints);
  const unlimited = new Set(endpoints.filter((each) => each.unlimited).map((each) => each.path));
  // Answers hold conversations and keys: no cache on the way may keep them.
  const common = [...securityHeaders(), 'cache-control', 'no-store'];
  const cors = new Cors(parts.corsOrigins ?? []);
  const addressed = addressOf(parts.trustedProxies ?? []);

  const app = express().disable('x-powered-by');
  // Express gives every request and answer the methods of these two. Ours are what they are already, which costs nothing.
  Object.assign(app, { request: IncomingMessage.prototype, response: EdgeResponse.prototype });
  app.use((request: IncomingMessage, response: unknown) => serve(request, response as EdgeResponse));
  return app;

  function serve(request: IncomingMessage, response: EdgeResponse): void {
    const context = contextOf(request);
    logOutcome(log, context, request, response);
    const failed = (thrown: unknown) => void refuse(thrown, request, response).catch(() => request.socket.destroy());
    withContext(context, () => {
      try {
        response.isLast = isDraining;
        response.say(common, ['x-request-id', context.requestId], cors.headers(request));
        pass(request, response)?.catch(failed);
      } catch (error) {
        failed(error);
      }
    });
  }

  /** Returns or throws at once where nothing has to be waited for. */
  function pass(request: IncomingMessage, response: EdgeResponse): Promise<void> | undefined {
    const { method = '' } = request;
    const url = originForm(request.url);
    request.url = url;
    const address = addressed(request);
    const network = networkOf(address);
    if (!unlimited.has(url)) limits.arrive(network, response);
    requireHost(request);
    const found = find(url);
    if (found === null) throw noSuchRoute();
    const { route, params } = found;
    response.notes.route = route.path;
    const endpoint = endpointFor(route, method);
    if (endpoint !== undefined)
      return run(endpoint, { gates, limits, network }, { request, response, params, address });
    const { allow } = route;
    if (method !== 'OPTIONS') throw new Problem(405, 'METHOD_NOT_ALLOWED', `This address takes ${allow}.`, { allow });
    return send(request, response, { status: 204, headers: { allow, ...cors.preflight(request, allow) } });
  }

  async function refuse(error: unknown, request: IncomingMessage, response: EdgeResponse): Promise<void> {
    if (isClientGone(error, request)) return;
    if (isBug(error)) log.error({ err: error }, 'a request failed');
    if (response.headersSent) {
      // Half of an answer has gone; only a broken connection can still say that it is not whole.
      request.socket.destroy();
      return;
    }
    await send(request, response, problemAnswer(error, currentContext()?.requestId ?? ''));
  }
}

/** RFC 9112, 3.2.2: a request as a proxy takes it names the host before the path, and is served all the same. */
function originForm(url = ''): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
}

/** RFC 9112, 3.2. Of several, what stands before us may have looked at another one than we would. */
function requireHost(request: IncomingMessage): void {
  const hosts = headerValues(request, 'host').length;
  if (hosts > 1) throw new Problem(400, 'INVALID_REQUEST', 'Send one Host header, not several.');
  if (hosts === 0 && request.httpVersion === '1.1') throw new Problem(400, 'INVALID_REQUEST', 'Send a Host header.');
}

/** A client may leave at any moment; the line of the request says so, and nobody is there to answer. */
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
