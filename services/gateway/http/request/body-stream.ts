import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { HttpError } from '../response/http-error.ts';
import { IDLE_TIMEOUT_MS } from '../response/send.ts';

const BUFFER_BYTES = 256 * 1024;

/**
 * A request's body as a stream that can fail without closing the connection, so that the client gets the error. It fails
 * with REQUEST_TIMEOUT when the client sends nothing for `idleMs`, or has not sent all of it within `maxMs`.
 */
export function bodyStream(request: IncomingMessage, options: { maxMs?: number; idleMs?: number } = {}): Readable {
  const { maxMs, idleMs = IDLE_TIMEOUT_MS } = options;
  const body = new PassThrough({ highWaterMark: BUFFER_BYTES });
  const fail = (error: Error) => body.destroy(error);
  const timeOut = (why: string) => fail(new HttpError(408, 'REQUEST_TIMEOUT', `The upload ${why}. Send it again.`));
  request.setTimeout(idleMs, () => timeOut('stalled'));
  const timer = maxMs === undefined ? undefined : setTimeout(() => timeOut('took too long'), maxMs);
  const endEarly = () => fail(new HttpError(400, 'INVALID_REQUEST', 'The upload ended early.'));
  request.once('error', endEarly);
  request.once('close', () => {
    if (!body.writableEnded) endEarly();
  });
  body.once('close', () => {
    clearTimeout(timer);
    request.setTimeout(0);
  });
  // The reader may be gone when the stream fails. Without a listener the error would end the process.
  body.on('error', () => {});
  return request.pipe(body);
}
