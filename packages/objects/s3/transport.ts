import { AsyncLocalStorage } from 'node:async_hooks';
import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { Refusal, TimeOut } from './failures.ts';
import { element } from './xml.ts';

/** What bounds a request; the client, which has no place for it, hands nothing through. */
export interface Bounds {
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

export const bounds = new AsyncLocalStorage<Bounds>();

const MAX_FREE_SOCKETS = 64;
/** Enough of an answer to find its code in. */
const MAX_REFUSAL_CHARS = 64 * 1024;

/**
 * Requests that end: a connection is made in time, and something moves on it, or the request fails. Connections are kept;
 * their number has no bound, because a reader may hold one for as long as it puts what it reads through another.
 */
export function boundedTransport(
  isSecure: boolean,
  connectMs: number,
): { request: typeof http.request; agent: http.Agent } {
  const options = { keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS, timeout: 30_000 };
  const agent = isSecure ? new https.Agent(options) : new http.Agent(options);
  const wire = isSecure ? https : http;
  const request = (
    asked: http.RequestOptions,
    answer: (response: http.IncomingMessage) => void,
  ): http.ClientRequest => {
    const { idleMs, signal } = bounds.getStore() ?? { idleMs: connectMs };
    const sent = wire.request({ ...asked, agent, ...(signal !== undefined && { signal }) });
    let given: http.IncomingMessage | undefined;
    sent.once('response', (response) => {
      given = response;
      const status = response.statusCode ?? 0;
      // The client would take these for its own business: it tries again, writes to the console and drops the connection.
      if ((status >= 500 && status !== 501) || [408, 429, 499].includes(status)) refuse(sent, response, status);
      else answer(response);
    });
    sent.once('socket', (socket) => {
      if (socket.connecting) boundConnecting(sent, socket, isSecure, connectMs);
      boundSilence(sent, socket, idleMs, () => given);
    });
    return sent;
  };
  return { request: request as typeof http.request, agent };
}

function boundConnecting(sent: http.ClientRequest, socket: Socket, isSecure: boolean, connectMs: number): void {
  const timer = setTimeout(
    () => sent.destroy(new TimeOut(`could not be connected to within ${connectMs} ms`)),
    connectMs,
  );
  const stop = () => clearTimeout(timer);
  socket.once(isSecure ? 'secureConnect' : 'connect', stop);
  sent.once('close', stop);
}

function boundSilence(
  sent: http.ClientRequest,
  socket: Socket,
  idleMs: number,
  given: () => http.IncomingMessage | undefined,
): void {
  const onSilence = () => {
    const response = given();
    if (response !== undefined && response.readableLength > 0) {
      // It is our reader who is slow, not the store.
      socket.setTimeout(idleMs);
      return;
    }
    (response ?? sent).destroy(new TimeOut(`was silent for ${idleMs} ms`, response === undefined && sent.reusedSocket));
  };
  socket.setTimeout(idleMs);
  socket.on('timeout', onSilence);
  sent.once('close', () => socket.off('timeout', onSilence));
}

/** Reads the answer, so that its connection can be used again, and fails the request with it. */
function refuse(sent: http.ClientRequest, response: http.IncomingMessage, status: number): void {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    if (text.length < MAX_REFUSAL_CHARS) text += chunk;
  });
  response.once('error', (error) => sent.emit('error', error));
  response.once('end', () => {
    sent.emit('error', new Refusal(status, element(text, 'Code') ?? `HTTP ${status}`));
    // What is left of the body would be wasted on it.
    if (!sent.writableFinished) sent.destroy();
  });
}
