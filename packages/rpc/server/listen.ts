import { once } from 'node:events';
import { unlinkSync } from 'node:fs';
import type { Http2Server, ServerHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { type Logger, StartFault } from '@call-analysis/runtime';
import type { Server, ServerCredentials } from '@grpc/grpc-js';
import { WINDOW_BYTES } from '../wire/options.ts';

/** Listens on `host:port` or `unix:/path`. Resolves to the address with the real port for port 0. */
export async function listen(server: Server, address: string, credentials: ServerCredentials): Promise<string> {
  const path = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
  if (path !== undefined) await removeStaleSocket(path);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => {
      if (error === null) resolve(bound);
      else if (error.message.includes('EADDRINUSE')) reject(new StartFault(`${address} is in use by another process.`));
      else reject(new StartFault(`Listening on ${address} failed: ${error.message}`, { cause: error }));
    });
  });
  return path === undefined ? address.replace(/:\d+$/, `:${port}`) : address;
}

/**
 * Gives each connection of a listening server the large flow-control window, and closes connections that are made while
 * the server is stopping. grpc-js widens the window of its clients only, so an upload would wait a round trip for each
 * 64 KiB; and a stopping server forgets connections whose handshake is in progress. grpc-js does not expose its HTTP/2
 * servers: a test fails when they are no longer found here.
 * Returns what breaks off all connections. `forceShutdown` does not: without channelz it has no list of them, and a caller
 * would learn only at its deadline that its call was cut off.
 */
export function tuneConnections(server: Server, log: Logger, isStopping: () => boolean): () => void {
  const connections = new Set<ServerHttp2Session>();
  const breakOff = () => {
    for (const session of connections) session.destroy();
  };
  const listening: unknown = Reflect.get(server, 'http2Servers');
  if (!(listening instanceof Map)) return breakOff;
  for (const http2 of listening.keys() as Iterable<Http2Server>) {
    http2.on('tlsClientError', logRefusals(log));
    http2.on('session', (session: ServerHttp2Session) => {
      connections.add(session);
      session.once('close', () => connections.delete(session));
      if (isStopping()) session.close();
      else {
        session.settings({ initialWindowSize: WINDOW_BYTES });
        session.setLocalWindowSize(WINDOW_BYTES);
      }
    });
  }
  return breakOff;
}

const LOG_INTERVAL_MS = 60_000;

/** A refused caller tries again each second, so one line a minute gives their number. */
function logRefusals(log: Logger): (error: Error) => void {
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    refused += 1;
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) return;
    log.warn({ refused, err: error }, 'callers without a valid certificate were refused');
    loggedAt = performance.now();
    refused = 0;
  };
}

/** The socket of a killed process remains. A socket that a process still listens on stays, and binding to it fails. */
async function removeStaleSocket(path: string): Promise<void> {
  const probe = connect(path);
  try {
    await once(probe, 'connect');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') unlinkSync(path);
  } finally {
    probe.destroy();
  }
}
