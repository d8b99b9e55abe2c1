import type { IncomingMessage } from 'node:http';
import { histogram, type IncomingContext, isTracing, type Logger, recordSpan } from '@call-analysis/runtime';
import type { Response } from './response/send.ts';

const duration = histogram('http_request_duration_seconds', 'From the head of a request to the end of its response.', [
  'method',
  'route',
  'status',
]);

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Writes one log line, counts the request and traces it when its connection is done with it, however it ends. */
export function logOutcome(
  log: Logger,
  { context, parent }: IncomingContext,
  request: IncomingMessage,
  response: Response,
): void {
  const beganAt = Date.now();
  const mark = performance.now();
  const { method = '' } = request;
  // Node accepts about thirty more methods. Each would be a time series of its own.
  const label = METHODS.has(method) ? method : 'other';
  response.on('close', () => {
    const ms = performance.now() - mark;
    const { statusCode: status, writableFinished } = response;
    const { route = 'none', firm_uuid, user_uuid, call_uuid, tool } = response.locals.logFields;
    duration.of(label, route, String(status)).observe(ms / 1000);
    if (isTracing()) {
      recordSpan({
        service: 'gateway',
        name: `${label} ${route}`,
        kind: 'server',
        traceparent: context.traceparent,
        parent,
        beganAt,
        ms,
        attributes: {
          'http.request.method': label,
          'http.route': route,
          'http.response.status_code': status,
          request_id: context.requestId,
          ...(firm_uuid !== undefined && { firm_uuid }),
          ...(call_uuid !== undefined && { call_uuid }),
        },
        ...(status >= 500 && { failure: String(status) }),
      });
    }
    const fields = {
      // `close` is emitted outside the request's async context, so the ids are passed explicitly.
      request_id: context.requestId,
      traceparent: context.traceparent,
      method,
      route,
      firm_uuid,
      user_uuid,
      call_uuid,
      tool,
      status,
      ms: Math.round(ms * 10) / 10,
      aborted: writableFinished ? undefined : true,
    };
    log[status >= 500 ? 'warn' : 'info'](fields, 'request');
  });
}
