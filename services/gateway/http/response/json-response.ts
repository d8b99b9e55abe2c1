import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as JSON; no body when it is undefined. */
  readonly body?: unknown;
}

/** A client that neither sends nor takes a byte for so long is gone; Node then destroys the connection. */
export const SILENCE_MS = 60_000;
/** Characters that the buffers of a socket hold in any case. */
const SHORT = 16 * 1024;
/** How long, and how much, a client may go on sending after it was refused. */
const DISCARD_MS = 5000;
const DISCARD_BYTES = 16 * 1024 * 1024;

/**
 * Sends an answer. When the request's body is still on its way the connection will be closed, but not at once:
 * closing while bytes come in resets the connection, and the client would lose the answer. Nothing is to be waited for
 * otherwise.
 */
export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> | undefined {
  const text = answer.body === undefined ? undefined : JSON.stringify(answer.body);
  const headers: OutgoingHttpHeaders = { ...answer.headers };
  if (text !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = Buffer.byteLength(text);
  } else if (answer.status !== 204 && answer.status !== 304) headers['content-length'] = 0;
  // A short answer is with the system at once, whether the client takes it or not.
  if (text !== undefined && text.length > SHORT) response.setTimeout(SILENCE_MS);
  if (!isBodyPending(request)) {
    // Node joins a short body to its head, and writes both as what the body is: bytes as they stand take 2 µs less than UTF-8.
    const isAscii = headers['content-length'] === text?.length;
    response.writeHead(answer.status, headers).end(text, isAscii ? 'latin1' : 'utf8');
    return undefined;
  }
  response.writeHead(answer.status, { ...headers, connection: 'close' });
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

/** Tells a client that waits for leave to send its body (`Expect: 100-continue`) to go on. */
export function welcomeBody(request: IncomingMessage, response: ServerResponse): void {
  if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
}

function discardBody(request: IncomingMessage): Promise<void> {
  // Whoever was reading would pause the request when it leaves.
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
