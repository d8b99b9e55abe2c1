import { once } from 'node:events';
import { unlinkSync } from 'node:fs';
import type { Http2Server, ServerHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { type Logger, StartFault } from '@call-analysis/runtime';
import type { Server, ServerCredentials } from '@grpc/grpc-js';
import { WINDOW_BYTES } from './connection.ts';

/** Listens on `host:port` or `unix:/path` and says where that is, with the real port for port 0. */
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
 * Has every connection of a listening server take much at once and, when the server is stopping, none. grpc-js widens
 * the window of its clients alone, so that an upload would wait a round trip for each 64 KiB, and when it stops it forgets
 * connections that are still shaking hands. It shows its HTTP/2 servers to nobody; should they not be there any more, a
 * test says so.
 */
export function tuneConnections(server: Server, log: Logger, isStopping: () => boolean): void {
  const listening: unknown = Reflect.get(server, 'http2Servers');
  if (!(listening instanceof Map)) return;
  for (const http2 of listening.keys() as Iterable<Http2Server>) {
    http2.on('tlsClientError', tellRefusals(log));
    http2.on('session', (session: ServerHttp2Session) => {
      if (isStopping()) session.close();
      else {
        session.settings({ initialWindowSize: WINDOW_BYTES });
        session.setLocalWindowSize(WINDOW_BYTES);
      }
    });
  }
}

const REFUSALS_TOLD_MS = 60_000;

/** A caller that is turned away comes again each second: one line a minute says how often. */
function tellRefusals(log: Logger): (error: Error) => void {
  let refused = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    refused += 1;
    if (performance.now() - toldAt < REFUSALS_TOLD_MS) return;
    log.warn({ refused, err: error }, 'callers without a good certificate were turned away');
    toldAt = performance.now();
    refused = 0;
  };
}

/** A killed process leaves its socket behind. One that somebody still listens on stays, and binding to it fails. */
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
