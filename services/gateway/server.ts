import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { StartFault } from '@call-analysis/runtime';
import { commonHeaders } from './http/response/headers.ts';
import { errorBody, headTooLarge, HttpError, MAX_HEAD_BYTES } from './http/response/http-error.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 65_000;
const SWEEP_MS = 50;
/** How long a client whose bytes are not a request may go on sending. */
const DISCARD_MS = 5000;
/** Every method that some address accepts. */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export interface Listening {
  readonly url: string;
  /**
   * Refuses new connections, closes idle ones immediately and lets requests in flight finish. Connections that are left
   * after `graceMs` are cut off. Resolves with their number.
   */
  close(graceMs: number): Promise<number>;
}

/** Rejects with StartFault when the address cannot be used. */
export async function listen(
  handle: RequestListener,
  address: { host: string; port: number },
  { headersMs = HEADERS_TIMEOUT_MS }: { headersMs?: number } = {},
): Promise<Listening> {
  const server = createServer({
    // Of names and values alone. The app counts the rest.
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: headersMs,
    // An upload may take as long as its URL is valid. The code that reads bodies detects idle clients.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: headersMs / 10,
    // Node's own response to a missing Host has no body.
    requireHostHeader: false,
    noDelay: true,
  });
  // Node would leave out those above two thousand, which the app could then not count.
  server.maxHeadersCount = 0;
  const inProgress = new RequestsInProgress();
  const tracked: RequestListener = (request, response) => {
    inProgress.add(response);
    handle(request, response);
  };
  server.on('request', tracked);
  // The code that reads the body decides whether the client may send it.
  server.on('checkContinue', tracked);
  server.on('checkExpectation', tracked);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) =>
    refuseBrokenRequest(error, socket, inProgress.before(socket)),
  );
  // A client may end its side of the connection after its last request, and still read the response.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.end(
      rawError(
        new HttpError(405, 'METHOD_NOT_ALLOWED', `This is not a proxy. It accepts ${METHODS}.`, { Allow: METHODS }),
      ),
    );
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
    throw new StartFault(listenError(cause, host, port), { cause });
  }
}

function listenError(error: unknown, host: string, port: number): string {
  switch (typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return `Port ${port} is in use. Stop what listens there, or set PORT to another one.`;
    case 'EACCES':
      return `Listening on port ${port} is not permitted. Set PORT to a port above 1023.`;
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
    // Node does not count a connection as idle before its first request. Clients keep some open in reserve.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  }
  let cut = 0;
  // A connection with a request in flight becomes idle only after its response.
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

/** The requests of each connection whose responses are not sent yet, oldest first. */
class RequestsInProgress {
  readonly #bySocket = new WeakMap<object, Set<ServerResponse>>();

  add(response: ServerResponse): void {
    const { socket } = response.req;
    const responses = this.#bySocket.get(socket) ?? new Set<ServerResponse>();
    this.#bySocket.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  }

  /** The responses that the client must get before the error about an invalid request. */
  before(socket: Duplex): ServerResponse[] {
    // A request that has not arrived completely is the one that is broken.
    return [...(this.#bySocket.get(socket) ?? [])].filter(({ req }) => req.complete);
  }
}

const refused = new WeakSet<object>();

/**
 * Answers bytes that are not a request, for which there is only a socket and no response. The client would read this as
 * the response to an earlier request, or as part of it, so those are sent before.
 */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, before: readonly ServerResponse[]): void {
  // Node reports each further chunk of such bytes. Closing the connection while they arrive would reset it, and the
  // client would lose the response.
  if (refused.has(socket)) return;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  refused.add(socket);
  const last = before.at(-1);
  if (last !== undefined) {
    last.once('close', () => sendRefusal(error, socket));
    return;
  }
  if (isResponding(socket)) socket.destroy();
  else sendRefusal(error, socket);
}

function sendRefusal(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const cutOff = setTimeout(() => socket.destroy(), DISCARD_MS).unref();
  socket.once('close', () => clearTimeout(cutOff));
  socket.end(rawError(refusalOf(error)));
}

function refusalOf({ code }: NodeJS.ErrnoException): HttpError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return headTooLarge();
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpError(408, 'REQUEST_TIMEOUT', 'The headers took too long to arrive.');
    default:
      return new HttpError(400, 'INVALID_REQUEST', 'This is not a well-formed HTTP request.');
  }
}

/** The client would read a second response as part of the first. */
function isResponding(socket: Duplex): boolean {
  const response = (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage;
  return response?.headersSent === true;
}

function rawError({ status, code, message, headers }: HttpError): string {
  const body = JSON.stringify(errorBody(code, message));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${randomUUID()}`,
    ...[...commonHeaders, ...Object.entries(headers)].map(([name, value]) => `${name}: ${String(value)}`),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

function urlOf({ address, family, port }: AddressInfo): string {
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
