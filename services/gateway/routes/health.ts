import { Fault } from '@call-analysis/fault';
import { z } from 'zod';
import { endpoint } from '../http/endpoint.ts';
import type { Endpoint } from '../http/endpoint.ts';

/** api.md, section 8. Rejecting with Fault UNAVAILABLE names the part that does not answer. */
export function health(parts: { ready: readonly (() => Promise<void>)[]; isDraining: () => boolean }): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/healthz',
      proof: 'none',
      unlimited: true,
      about: {
        tag: 'Service',
        summary: 'Tell whether the process lives',
        answers: { 200: { description: 'It does.', schema: z.object({ status: z.literal('ok') }) } },
      },
      handle: async () => ({ status: 200, body: { status: 'ok' } }),
    }),
    endpoint({
      method: 'GET',
      path: '/readyz',
      proof: 'none',
      unlimited: true,
      about: {
        tag: 'Service',
        summary: 'Tell whether requests can be served',
        description: 'Every part behind the gateway is asked; a refusal names the one that does not answer.',
        answers: { 200: { description: 'They can.', schema: z.object({ status: z.literal('ready') }) } },
        refusals: ['UNAVAILABLE'],
      },
      async handle() {
        if (parts.isDraining()) throw new Fault('unavailable', 'UNAVAILABLE', 'The gateway is stopping.');
        await Promise.all(parts.ready.map((isReady) => isReady()));
        return { status: 200, body: { status: 'ready' } };
      },
    }),
  ];
}
