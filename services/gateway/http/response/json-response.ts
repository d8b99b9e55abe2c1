import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface JsonResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as JSON. Undefined sends no body. */
  readonly body?: unknown;
}

/** A client that neither sends nor reads a byte for this long is gone. Node then destroys the connection. */
export const IDLE_TIMEOUT_MS = 60_000;
/** A response of up to this many characters fits in the buffers of a socket. */
const SHORT = 16 * 1024;
/** How long, and how many bytes, a refused client may go on sending. */
const DISCARD_MS = 5000;
const DISCARD_BYTES = 16 * 1024 * 1024;

/**
 * Sends a response. Returns a promise only when the request's body is still arriving. The connection is then closed
 * after the rest of the body was discarded: closing it earlier resets it, and the client would lose the response.
 */
export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers: given, body }: JsonResponse,
): Promise<void> | undefined {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers: OutgoingHttpHeaders = { ...given };
  if (text !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = Buffer.byteLength(text);
  } else if (status !== 204 && status !== 304) headers['content-length'] = 0;
  // The system buffers a short response, whether or not the client reads it.
  if (text !== undefined && text.length > SHORT) response.setTimeout(IDLE_TIMEOUT_MS);
  if (!isBodyPending(request)) {
    // Node writes a short body and its head as one string. Writing ASCII as latin1 takes 2 µs less than writing UTF-8.
    const isAscii = headers['content-length'] === text?.length;
    response.writeHead(status, headers).end(text, isAscii ? 'latin1' : 'utf8');
    return undefined;
  }
  response.writeHead(status, { ...headers, connection: 'close' });
  response.flushHeaders();
  if (text !== undefined) response.write(text);
  return discardBody(request).then(() => void response.end());
}

/** Whether bytes of the request's body may still arrive. */
function isBodyPending(request: IncomingMessage): boolean {
  const { 'transfer-encoding': encoding, 'content-length': length } = request.headers;
  const hasBody = encoding !== undefined || (length !== undefined && Number(length) > 0);
  return hasBody && !request.complete && !request.destroyed;
}

/** Asks a client that sent `Expect: 100-continue` for its body. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
}

function discardBody(request: IncomingMessage): Promise<void> {
  // A reader that stops would pause the request.
  request.unpipe();
  return new Promise((resolve) => {
    let bytesLeft = DISCARD_BYTES;
    const timer = setTimeout(finish, DISCARD_MS);
    function finish() {
      clearTimeout(timer);
      request.off('data', count).off('end', finish).off('close', finish);
      resolve();
    }
    function count(chunk: Buffer) {
      bytesLeft -= chunk.length;
      if (bytesLeft < 0) finish();
    }
    request
      .on('data', count)
      .on('end', finish)
      .on('close', finish)
      .on('error', () => {});
    request.resume();
  });
}
