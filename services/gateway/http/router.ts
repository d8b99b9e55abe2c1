import type { IncomingMessage } from 'node:http';
import type { IRouter, NextFunction, RequestHandler } from 'express';
import { type AccessChecks, type Endpoint, handleRequest, type Params } from './endpoint.ts';
import type { Cors } from './response/cors.ts';
import type { EdgeResponse } from './response/edge-response.ts';
import { HttpError } from './response/http-error.ts';
import { sendJson } from './response/json-response.ts';

/** An express handler for the request and response that the gateway's server creates. */
export function handler(
  handle: (request: IncomingMessage, response: EdgeResponse, next: NextFunction) => unknown,
): RequestHandler {
  return handle as unknown as RequestHandler;
}

/**
 * Registers endpoints with express. Every path also answers OPTIONS with its methods, and refuses other methods with 405.
 * HEAD is GET without the body.
 */
export function registerEndpoints(
  router: IRouter,
  endpoints: readonly Endpoint[],
  checks: AccessChecks,
  cors: Cors,
): void {
  for (const [path, onPath] of byPath(endpoints)) {
    const methods = onPath.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const allow = [...methods, 'OPTIONS'].join(', ');
    const route = router.route(path);
    for (const endpoint of onPath) {
      const method = endpoint.method.toLowerCase() as Lowercase<Endpoint['method']>;
      route[method](
        handler((request, response) => {
          response.logFields.route = path;
          const { params } = request as IncomingMessage & { params: Params };
          return handleRequest(endpoint, checks, { request, response, params });
        }),
      );
    }
    route.all(
      handler((request, response) => {
        response.logFields.route = path;
        if (request.method === 'OPTIONS') {
          return sendJson(request, response, { status: 204, headers: { allow, ...cors.preflight(request, allow) } });
        }
        throw new HttpError(405, 'METHOD_NOT_ALLOWED', `This address accepts ${allow}.`, { allow });
      }),
    );
  }
}

/** Express takes the first path that matches, so `/calls/batches` comes before `/calls/:uuid`. */
function byPath(endpoints: readonly Endpoint[]): [path: string, endpoints: Endpoint[]][] {
  const parametersLast = (path: string) => path.replaceAll(/[:*]/g, '~');
  return [...Map.groupBy(endpoints, ({ path }) => path)].sort(([a], [b]) =>
    parametersLast(a) < parametersLast(b) ? -1 : 1,
  );
}
