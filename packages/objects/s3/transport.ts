import { AsyncLocalStorage } from 'node:async_hooks';
import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { Refusal, TimeOut } from './failures.ts';
import { element } from './xml.ts';

/** Limits of a request. minio's client cannot pass them on. */
export interface Limits {
  readonly idleMs: number;
  readonly signal?: AbortSignal | undefined;
}

export const limitsOfRequest = new AsyncLocalStorage<Limits>();

const MAX_FREE_SOCKETS = 64;
/** Enough of an answer to contain its code. */
const MAX_REFUSAL_CHARS = 64 * 1024;

/**
 * Requests with time limits: one fails when a connection is not made in time or is idle for too long. Connections are kept
 * alive. Their number is unlimited, because a reader may hold one while it puts the same bytes through another.
 */
export function limitedTransport(
  isSecure: boolean,
  connectMs: number,
): { request: typeof http.request; agent: http.Agent } {
  const options = { keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS, timeout: 30_000 };
  const agent = isSecure ? new https.Agent(options) : new http.Agent(options);
  const protocol = isSecure ? https : http;
  const request = (
    asked: http.RequestOptions,
    answer: (response: http.IncomingMessage) => void,
  ): http.ClientRequest => {
    const { idleMs, signal } = limitsOfRequest.getStore() ?? { idleMs: connectMs };
    const sent = protocol.request({ ...asked, agent, ...(signal !== undefined && { signal }) });
    let given: http.IncomingMessage | undefined;
    sent.once('response', (response) => {
      given = response;
      const status = response.statusCode ?? 0;
      // minio's client would handle these itself: it retries, writes to the console and drops the connection.
      if ((status >= 500 && status !== 501) || [408, 429, 499].includes(status)) refuse(sent, response, status);
      else answer(response);
    });
    sent.once('socket', (socket) => {
      if (socket.connecting) limitConnecting(sent, socket, isSecure, connectMs);
      limitSilence(sent, socket, idleMs, () => given);
    });
    return sent;
  };
  return { request: request as typeof http.request, agent };
}

function limitConnecting(sent: http.ClientRequest, socket: Socket, isSecure: boolean, connectMs: number): void {
  const timer = setTimeout(
    () => sent.destroy(new TimeOut(`could not be connected to within ${connectMs} ms`)),
    connectMs,
  );
  const stop = () => clearTimeout(timer);
  socket.once(isSecure ? 'secureConnect' : 'connect', stop);
  sent.once('close', stop);
}

function limitSilence(
  sent: http.ClientRequest,
  socket: Socket,
  idleMs: number,
  given: () => http.IncomingMessage | undefined,
): void {
  const onSilence = () => {
    const response = given();
    if (response !== undefined && response.readableLength > 0) {
      // The reader is slow, not the store.
      socket.setTimeout(idleMs);
      return;
    }
    (response ?? sent).destroy(new TimeOut(`was silent for ${idleMs} ms`, response === undefined && sent.reusedSocket));
  };
  socket.setTimeout(idleMs);
  socket.on('timeout', onSilence);
  sent.once('close', () => socket.off('timeout', onSilence));
}

/** Reads the answer, so that the connection can be reused, and fails the request. */
function refuse(sent: http.ClientRequest, response: http.IncomingMessage, status: number): void {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    if (text.length < MAX_REFUSAL_CHARS) text += chunk;
  });
  response.once('error', (error) => sent.emit('error', error));
  response.once('end', () => {
    sent.emit('error', new Refusal(status, element(text, 'Code') ?? `HTTP ${status}`));
    // The rest of the body need not be sent.
    if (!sent.writableFinished) sent.destroy();
  });
}
