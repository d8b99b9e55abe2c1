import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartFault } from '../config/config.ts';
import { settlesWithin } from '../settles-within.ts';
import { exposition, EXPOSITION_TYPE } from '../telemetry/metrics.ts';
import type { Readiness } from './readiness.ts';

export interface HealthServer {
  readonly url: string;
  /** The service has started. Until then /readyz reports `starting`. */
  started(readiness: Readiness): void;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
}

const JSON_TYPE = 'application/json';
/** Probes are short. One that takes longer is cut off. */
const CLOSE_MS = 1_000;

/**
 * Serves `/healthz` (the process runs), `/readyz`, `/serving` and `/metrics` for orchestrators and monitoring, on an
 * address of their own. /readyz is 200 `{ "status": "ready" }`, with `degraded` naming the parts that do not answer but are
 * not vital, or 503 with the status `starting`, `stopping`, or `unavailable` with the vital `parts` that do not answer.
 * /serving checks no part: it is 200 from the end of the start until the process begins to stop.
 * Rejects with StartFault when it cannot listen.
 */
export async function serveHealth(address: { host: string; port: number }): Promise<HealthServer> {
  let readiness: Readiness | undefined;

  async function answer(method: string, path: string): Promise<Answer> {
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: json({ status: 'method not allowed' }) };
    switch (path) {
      case '/healthz':
        return { status: 200, body: json({ status: 'ok' }) };
      case '/readyz':
        return ready();
      case '/serving':
        return serving();
      case '/metrics':
        return { status: 200, type: EXPOSITION_TYPE, body: await exposition() };
      default:
        return { status: 404, body: json({ status: 'not found' }) };
    }
  }

  async function ready(): Promise<Answer> {
    if (readiness === undefined) return { status: 503, body: json({ status: 'starting' }) };
    const { vital, others } = await readiness.missing();
    if (readiness.isDraining) return { status: 503, body: json({ status: 'stopping' }) };
    if (vital.length > 0) return { status: 503, body: json({ status: 'unavailable', parts: vital }) };
    return { status: 200, body: json({ status: 'ready', ...(others.length > 0 && { degraded: others }) }) };
  }

  function serving(): Answer {
    if (readiness === undefined) return { status: 503, body: json({ status: 'starting' }) };
    if (readiness.isDraining) return { status: 503, body: json({ status: 'stopping' }) };
    return { status: 200, body: json({ status: 'serving' }) };
  }

  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/s, '');
    answer(request.method ?? '', path)
      .catch((): Answer => ({ status: 500, body: json({ status: 'failed' }) }))
      .then((each) => send(response, each, request.method === 'HEAD'));
  });
  server.requestTimeout = 5_000;
  server.headersTimeout = 5_000;
  server.listen(address);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new StartFault(
      code === 'EADDRINUSE'
        ? `Port ${address.port} is in use. Stop the process that uses it, or set HEALTH_PORT to another port.`
        : `Listening on port ${address.port} of ${address.host} failed (${code}). Set HEALTH_HOST and HEALTH_PORT to an address of this machine.`,
      { cause },
    );
  }
  return {
    url: urlOf(server.address() as AddressInfo),
    started: (parts) => (readiness = parts),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await settlesWithin(closed, CLOSE_MS);
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, { status, type = JSON_TYPE, body }: Answer, headOnly: boolean): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(headOnly ? undefined : body);
}

function json(body: object): string {
  return JSON.stringify(body);
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
