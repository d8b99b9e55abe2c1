import express from 'express';
import type { Express, NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import {
  childTraceparent,
  currentContext,
  isRequestId,
  isTraceparent,
  newContext,
  withContext,
} from '@call-analysis/runtime';
import type { Logger } from '@call-analysis/runtime';
import { logOutcome, note } from './http/access-log.ts';
import { send } from './http/answer.ts';
import { run } from './http/endpoint.ts';
import type { Endpoint, Gates } from './http/endpoint.ts';
import { isBug, noSuchRoute, Problem, problemAnswer } from './http/problem.ts';

/** The order in which a request passes through the edge. */
export function createApp(parts: {
  endpoints: readonly Endpoint[];
  gates: Gates;
  log: Logger;
  isDraining: () => boolean;
}): Express {
  const { endpoints, gates, log, isDraining } = parts;
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false).set('case sensitive routing', true);

  app.use((request: Request, response: Response, next: NextFunction) => {
    const context = contextOf(request);
    response.setHeader('x-request-id', context.requestId);
    withContext(context, next);
  });
  app.use((request: Request, response: Response, next: NextFunction) => {
    logOutcome(log, request, response);
    if (isDraining()) response.setHeader('connection', 'close');
    // Answers hold conversations and keys: no cache on the way may keep them.
    response.setHeader('cache-control', 'no-store');
    next();
  });
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
      },
    }),
  );
  app.use((request: Request, _response: Response, next: NextFunction) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      throw new Problem(400, 'INVALID_REQUEST', 'Send a Host header.');
    }
    next();
  });
  for (const [path, onPath] of byPath(endpoints)) {
    app.all(onPath[0]?.pattern ?? path, async (request: Request, response: Response) => {
      note(request, { route: path });
      const chosen = choose(onPath, request.method);
      if (chosen === undefined) await answerMethod(onPath, request, response);
      else await run(chosen, gates, request, response);
    });
  }
  app.use(() => {
    throw noSuchRoute();
  });
  app.use(async (error: unknown, request: Request, response: Response, _next: NextFunction) => {
    if (isClientGone(error, request)) return;
    if (isBug(error)) log.error({ err: error }, 'a request failed');
    if (response.headersSent) {
      // Half of an answer has gone; only a broken connection can still say that it is not whole.
      request.socket.destroy();
      return;
    }
    await send(request, response, problemAnswer(error, currentContext()?.requestId ?? ''));
  });
  return app;
}

/** A client may leave at any moment; the line of the request says so, and nobody is there to answer. */
function isClientGone(error: unknown, request: Request): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return request.socket.destroyed && (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET');
}

function contextOf(request: Request) {
  const { 'x-request-id': requestId, traceparent } = request.headers;
  const fresh = newContext();
  return {
    requestId: typeof requestId === 'string' && isRequestId(requestId) ? requestId : fresh.requestId,
    traceparent:
      typeof traceparent === 'string' && isTraceparent(traceparent) ? childTraceparent(traceparent) : fresh.traceparent,
  };
}

/** Endpoints by path, in the order given: a literal path stands before a pattern that would match it too. */
function byPath(endpoints: readonly Endpoint[]): Map<string, Endpoint[]> {
  return Map.groupBy(endpoints, (each) => each.path);
}

function choose(onPath: readonly Endpoint[], method: string): Endpoint | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method;
  return onPath.find((each) => each.method === wanted);
}

async function answerMethod(onPath: readonly Endpoint[], request: Request, response: Response): Promise<void> {
  const methods = onPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allow = [...methods, 'OPTIONS'].join(', ');
  if (request.method !== 'OPTIONS') {
    throw new Problem(405, 'METHOD_NOT_ALLOWED', `This address takes ${allow}.`, { allow });
  }
  await send(request, response, { status: 204, headers: { allow } });
}
