import type { IncomingMessage } from 'node:http';
import { type Context, histogram, isTraceparent, isTracing, type Logger, recordSpan } from '@call-analysis/runtime';
import type { LogFields, Response } from './response/response.ts';

const duration = histogram('http_request_duration_seconds', 'From the head of a request to the end of its response.', [
  'method',
  'route',
  'status',
]);

/** Writes one log line, counts the request and traces it when its connection is done with it, however it ends. */
export function logOutcome(log: Logger, context: Context, request: IncomingMessage, response: Response): void {
  const beganAt = Date.now();
  const mark = performance.now();
  response.on('close', () => {
    const ms = performance.now() - mark;
    const { route = 'none', firm_uuid, user_uuid, call_uuid, tool } = response.locals.logFields;
    const fields = {
      // `close` is emitted outside the request's async context, so the ids are passed explicitly.
      request_id: context.requestId,
      traceparent: context.traceparent,
      method: request.method ?? '',
      route,
      firm_uuid,
      user_uuid,
      call_uuid,
      tool,
      status: response.statusCode,
      ms: Math.round(ms * 10) / 10,
      aborted: response.writableFinished ? undefined : true,
    };
    duration.of(methodLabel(fields.method), fields.route, String(fields.status)).observe(ms / 1000);
    if (isTracing()) trace(request, context, beganAt, ms, fields);
    if (response.statusCode >= 500) log.warn(fields, 'request');
    else log.info(fields, 'request');
  });
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Node accepts about thirty more methods. Each would be a time series of its own. */
function methodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

function trace(
  request: IncomingMessage,
  { requestId, traceparent }: Context,
  beganAt: number,
  ms: number,
  { method, route, status, ...rest }: LogFields & { method: string; route: string; status: number },
): void {
  const { traceparent: parent } = request.headers;
  recordSpan({
    service: 'gateway',
    name: `${methodLabel(method)} ${route}`,
    kind: 'server',
    traceparent,
    parent: typeof parent === 'string' && isTraceparent(parent) ? parent : undefined,
    beganAt,
    ms,
    attributes: {
      'http.request.method': methodLabel(method),
      'http.route': route,
      'http.response.status_code': status,
      request_id: requestId,
      ...(rest.firm_uuid !== undefined && { firm_uuid: rest.firm_uuid }),
      ...(rest.call_uuid !== undefined && { call_uuid: rest.call_uuid }),
    },
    ...(status >= 500 && { failure: String(status) }),
  });
}
