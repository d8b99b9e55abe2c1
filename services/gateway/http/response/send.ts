import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { LONGEST_CALL_MS } from '@call-analysis/rpc';
import type { Response as ExpressResponse } from 'express';

/** Fields of the request's log line that become known while it is handled. */
interface LogFields {
  /** The route's pattern. The path itself may hold a signature. */
  route?: string;
  firm_uuid?: string;
  user_uuid?: string;
  call_uuid?: string;
  /** Of the Model Context Protocol. */
  tool?: string;
}

/** What express keeps for a request (`response.locals`). */
export interface RequestState {
  /** The client's address, and the network that rate limits count it with. */
  readonly client: { readonly address: string; readonly network: string };
  readonly logFields: LogFields;
}

export type Response = ExpressResponse<unknown, RequestState>;

export interface JsonResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as JSON, or as it is if it is a Buffer. Undefined sends no body. */
  readonly body?: unknown;
}

/** A client that neither sends nor reads a byte for this long is gone. Node then destroys the connection. */
export const IDLE_TIMEOUT_MS = 60_000;
/** How long, and how many bytes, a refused client may go on sending. */
const DISCARD_MS = 5000;
const DISCARD_BYTES = 16 * 1024 * 1024;

/**
 * Sends a response. If the request's body is still arriving, the connection is closed after the rest of the body was
 * discarded: closing it earlier resets it, and the client would lose the response.
 */
export async function send(response: Response, { status, headers = {}, body }: JsonResponse): Promise<void> {
  const { req: request } = response;
  response.status(status).setTimeout(IDLE_TIMEOUT_MS);
  setHeaders(response, headers);
  const isJson = body !== undefined && !Buffer.isBuffer(body);
  if (isJson) response.setHeader('content-type', 'application/json');
  // As text: Node writes it together with the head.
  const content = isJson ? JSON.stringify(body) : body;
  if (status !== 204) response.setHeader('content-length', content === undefined ? 0 : Buffer.byteLength(content));
  if (!isBodyPending(request)) {
    response.end(content);
    return;
  }
  response.setHeader('connection', 'close');
  response.flushHeaders();
  if (content !== undefined) response.write(content);
  await discardBody(request);
  response.end();
}

/**
 * Streams a file that another service sends. The head waits for the first piece, which decides between 200 and a fault.
 * The call to the service ends when the client goes away.
 */
export async function sendStream(
  response: Response,
  headers: OutgoingHttpHeaders,
  open: (options: { deadlineMs: number; signal: AbortSignal }) => AsyncIterable<{ data: Buffer }>,
): Promise<void> {
  const clientGone = new AbortController();
  response.once('close', () => clientGone.abort());
  // A file may have gigabytes, and the client may be slow.
  const pieces = open({ deadlineMs: LONGEST_CALL_MS, signal: clientGone.signal })[Symbol.asyncIterator]();
  let next = await pieces.next();
  setHeaders(response, headers);
  if (response.req.method === 'HEAD') {
    response.end();
    await pieces.return?.();
    return;
  }
  response.setTimeout(IDLE_TIMEOUT_MS);
  await pipeline(async function* () {
    for (; !next.done; next = await pieces.next()) yield next.value.data;
  }, response);
}

/** Express' own `set` would add a charset to the type. */
function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
}

/** Whether bytes of the request's body may still arrive. */
function isBodyPending(request: IncomingMessage): boolean {
  const { 'transfer-encoding': encoding, 'content-length': length } = request.headers;
  const hasBody = encoding !== undefined || (length !== undefined && Number(length) > 0);
  return hasBody && !request.complete && !request.destroyed;
}

/** Whether the client waits with its body until it is asked for it. */
export function expectsContinue(request: IncomingMessage): boolean {
  return /^100-continue$/i.test(request.headers.expect ?? '');
}

/** Asks a client that waits with its body for it. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (expectsContinue(request)) response.writeContinue();
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
