import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { Problem } from '../response/http-error.ts';
import { SILENCE_MS } from '../response/json-response.ts';

const BUFFER_BYTES = 256 * 1024;

/**
 * A request's body as a stream that can fail while the connection stays, so that the client can be told why: REQUEST_TIMEOUT
 * when it falls silent, or has not sent all of it within `maxMs`.
 */
export function bodyOf(request: IncomingMessage, options: { maxMs?: number; silenceMs?: number } = {}): Readable {
  const { maxMs, silenceMs = SILENCE_MS } = options;
  const body = new PassThrough({ highWaterMark: BUFFER_BYTES });
  const fail = (error: Error) => body.destroy(error);
  const late = (why: string) => fail(new Problem(408, 'REQUEST_TIMEOUT', `The upload ${why}. Send it again.`));
  request.setTimeout(silenceMs, () => late('stalled'));
  const timer = maxMs === undefined ? undefined : setTimeout(() => late('took too long'), maxMs);
  const endEarly = () => fail(new Problem(400, 'INVALID_REQUEST', 'The upload ended early.'));
  request.once('error', endEarly);
  request.once('close', () => {
    if (!body.writableEnded) endEarly();
  });
  body.once('close', () => {
    clearTimeout(timer);
    request.setTimeout(0);
  });
  // Whoever reads may have left before it fails.
  body.on('error', () => {});
  return request.pipe(body);
}
