import type { IncomingMessage, ServerResponse } from 'node:http';
import { currentContext, withContext } from '@call-analysis/runtime';
import type { Logger } from '@call-analysis/runtime';

/** What becomes known of a request on its way. */
export interface Notes {
  /** The route's pattern: the path itself may hold a signature. */
  route?: string;
  firm_uuid?: string;
  user_uuid?: string;
}

const notes = new WeakMap<IncomingMessage, Notes>();

export function note(request: IncomingMessage, fields: Notes): void {
  notes.set(request, { ...notes.get(request), ...fields });
}

/** Writes one line when the request is over, however it ends. */
export function logOutcome(log: Logger, request: IncomingMessage, response: ServerResponse): void {
  const beganAt = performance.now();
  const context = currentContext();
  response.once('close', () => {
    const fields = {
      method: request.method,
      route: 'none',
      ...notes.get(request),
      status: response.statusCode,
      ms: Math.round((performance.now() - beganAt) * 10) / 10,
      ...(response.writableFinished ? {} : { aborted: true }),
    };
    const write = () => (response.statusCode >= 500 ? log.warn(fields, 'request') : log.info(fields, 'request'));
    // The connection's events belong to no request.
    if (context === undefined) write();
    else withContext(context, write);
  });
}
