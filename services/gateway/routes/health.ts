import { Fault } from '@call-analysis/fault';
import { endpoint } from '../http/endpoint.ts';
import type { Endpoint } from '../http/endpoint.ts';

/** api.md, section 8. Rejecting with Fault UNAVAILABLE names the part that does not answer. */
export function health(parts: { ready: readonly (() => Promise<void>)[]; isDraining: () => boolean }): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/healthz',
      proof: 'none',
      handle: async () => ({ status: 200, body: { status: 'ok' } }),
    }),
    endpoint({
      method: 'GET',
      path: '/readyz',
      proof: 'none',
      async handle() {
        if (parts.isDraining()) throw new Fault('unavailable', 'UNAVAILABLE', 'The gateway is stopping.');
        await Promise.all(parts.ready.map((isReady) => isReady()));
        return { status: 200, body: { status: 'ready' } };
      },
    }),
  ];
}
