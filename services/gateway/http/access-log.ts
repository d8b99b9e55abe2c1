import type { IncomingMessage } from 'node:http';
import { type Context, histogram, isTraceparent, isTracing, type Logger, recordSpan } from '@call-analysis/runtime';
import type { EdgeResponse } from './response/edge-response.ts';

const duration = histogram('http_request_duration_seconds', 'From the head of a request to the end of its answer.', [
  'method',
  'route',
  'status',
]);

/** What becomes known of a request on its way. */
export interface Notes {
  /** The route's pattern: the path itself may hold a signature. */
  route?: string;
  firm_uuid?: string;
  user_uuid?: string;
  call_uuid?: string;
}

/** Writes one line, counts and traces the request when it is over, however it ends. */
export function logOutcome(log: Logger, context: Context, request: IncomingMessage, response: EdgeResponse): void {
  const beganAt = Date.now();
  const mark = performance.now();
  response.on('close', () => {
    const ms = performance.now() - mark;
    const { route = 'none', firm_uuid, user_uuid, call_uuid } = response.notes;
    const fields = {
      // The connection's events belong to no request, so the line is told of its own.
      request_id: context.requestId,
      traceparent: context.traceparent,
      method: request.method ?? '',
      route,
      firm_uuid,
      user_uuid,
      call_uuid,
      status: response.statusCode,
      ms: Math.round(ms * 10) / 10,
      aborted: response.writableFinished ? undefined : true,
    };
    duration.of(known(fields.method), fields.route, String(fields.status)).observe(ms / 1000);
    if (isTracing()) trace(request, context, beganAt, ms, fields);
    if (response.statusCode >= 500) log.warn(fields, 'request');
    else log.info(fields, 'request');
  });
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Node knows some thirty more, and each would be a series of its own. */
function known(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

function trace(
  request: IncomingMessage,
  { requestId, traceparent }: Context,
  beganAt: number,
  ms: number,
  { method, route, status, ...rest }: Notes & { method: string; route: string; status: number },
): void {
  const { traceparent: parent } = request.headers;
  recordSpan({
    service: 'gateway',
    name: `${known(method)} ${route}`,
    kind: 'server',
    traceparent,
    parent: typeof parent === 'string' && isTraceparent(parent) ? parent : undefined,
    beganAt,
    ms,
    attributes: {
      'http.request.method': known(method),
      'http.route': route,
      'http.response.status_code': status,
      request_id: requestId,
      ...(rest.firm_uuid !== undefined && { firm_uuid: rest.firm_uuid }),
      ...(rest.call_uuid !== undefined && { call_uuid: rest.call_uuid }),
    },
    ...(status >= 500 && { failure: String(status) }),
  });
}
