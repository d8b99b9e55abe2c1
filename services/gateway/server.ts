import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, IncomingMessage, type Server as HttpServer, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { StartFault } from '@call-analysis/runtime';
import type { App } from './app.ts';
import { EdgeResponse } from './http/response/edge-response.ts';
import { errorBody } from './http/response/http-error.ts';

type Server = HttpServer<typeof IncomingMessage, typeof EdgeResponse>;

/** The whole request line and headers, in bytes. */
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;
const SWEEP_MS = 50;
/** All that any address here takes. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export interface Listening {
  readonly url: string;
  /**
   * Refuses new connections, lets requests in flight finish and closes idle connections at once; what is left after
   * `graceMs` is cut off. Resolves with how many connections that were.
   */
  close(graceMs: number): Promise<number>;
}

/** Rejects with StartFault when the address cannot be had. */
export async function listen(
  handle: App,
  address: { host: string; port: number },
  { headersMs = HEADERS_TIMEOUT_MS }: { headersMs?: number } = {},
): Promise<Listening> {
  const server = createServer<typeof IncomingMessage, typeof EdgeResponse>({
    IncomingMessage,
    ServerResponse: EdgeResponse,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: headersMs,
    // A large upload may take as long as its URL lives; those who read bodies watch for clients that fall silent.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: headersMs / 10,
    // Node would answer a missing Host without a body.
    requireHostHeader: false,
    noDelay: true,
  });
  server.on('request', handle);
  // Whoever reads the body says whether it may be sent.
  server.on('checkContinue', handle);
  server.on('checkExpectation', handle);
  server.on('clientError', refuseBrokenRequest);
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.end(rawProblem(405, 'METHOD_NOT_ALLOWED', `This is no proxy; it takes ${METHODS}.`, [`Allow: ${METHODS}`]));
  });
  const open = connectionsOf(server);
  await bind(server, address);
  return { url: urlOf(server.address() as AddressInfo), close: (graceMs) => close(server, open, graceMs) };
}

async function bind(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new StartFault(whyNot(cause, host, port), { cause });
  }
}

function whyNot(error: unknown, host: string, port: number): string {
  switch (typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return `Port ${port} is in use. Stop what listens there, or set PORT to another one.`;
    case 'EACCES':
      return `Listening on port ${port} is not permitted. Set PORT to one above 1023.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Set HOST to one that is.`;
    default:
      return `Listening on port ${port} of ${host} failed: ${String(error)}`;
  }
}

function connectionsOf(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

async function close(server: Server, open: ReadonlySet<Socket>, graceMs: number): Promise<number> {
  function closeIdle(): void {
    server.closeIdleConnections();
    // Node does not count those as idle on which nothing was ever sent; clients keep some in reserve.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  }
  let cut = 0;
  // A connection whose last request began before is kept alive by its answer, and idle only after it.
  const sweep = setInterval(closeIdle, SWEEP_MS);
  const cutOff = setTimeout(() => {
    closeIdle();
    cut = [...open].filter((socket) => !socket.destroyed).length;
    server.closeAllConnections();
  }, graceMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  closeIdle();
  await closed;
  clearInterval(sweep);
  clearTimeout(cutOff);
  return cut;
}

/** Answers what never became a request: nothing but the socket is there to answer on. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      socket.end(rawProblem(431, 'HEADERS_TOO_LARGE', `A request's head may have up to ${MAX_HEADER_BYTES} bytes.`));
      break;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      socket.end(rawProblem(408, 'REQUEST_TIMEOUT', 'The headers took too long to arrive.'));
      break;
    default:
      socket.end(rawProblem(400, 'INVALID_REQUEST', 'This is not a well-formed HTTP request.'));
  }
}

/** A second answer in the middle of the first would be read as part of it. */
function isAnswering(socket: Duplex): boolean {
  const answer = (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage;
  return answer?.headersSent === true;
}

function rawProblem(status: number, code: string, message: string, headers: readonly string[] = []): string {
  const body = JSON.stringify(errorBody(code, message));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
    ...headers,
    '',
    body,
  ].join('\r\n');
}

function urlOf({ address, family, port }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
