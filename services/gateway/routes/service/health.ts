import { Fault } from '@call-analysis/fault';
import type { Readiness } from '@call-analysis/runtime';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';

const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });

const ReadyState = z
  .object({
    status: z.literal('ready'),
    degraded: z
      .array(z.string())
      .optional()
      .meta({ description: 'Parts that are unavailable. Work that needs them is done when they return.' }),
  })
  .meta({ id: 'Readiness' });

/** docs/api.md, "Operations endpoints". */
export function health(readiness: Readiness): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/healthz',
      credentials: 'none',
      unlimited: true,
      tag: 'Service',
      id: 'getHealth',
      summary: 'Check that the process is alive',
      responses: { 200: { description: 'The process is alive.', schema: Health } },
      handle: async () => ({ status: 200, body: { status: 'ok' } }),
    }),
    endpoint({
      method: 'GET',
      path: '/readyz',
      credentials: 'none',
      unlimited: true,
      tag: 'Service',
      id: 'getReadiness',
      summary: 'Check that requests can be served',
      description: 'Checks every backend of the gateway. An error names those that do not respond.',
      responses: { 200: { description: 'Requests can be served.', schema: ReadyState } },
      errors: ['UNAVAILABLE'],
      async handle() {
        const { vital, others } = await readiness.missing();
        if (readiness.isDraining) throw new Fault('unavailable', 'UNAVAILABLE', 'The gateway is stopping.');
        if (vital.length > 0) {
          const message = `${vital.join(', ')} ${vital.length === 1 ? 'does' : 'do'} not answer. Try again shortly.`;
          throw new Fault('unavailable', 'UNAVAILABLE', message);
        }
        return { status: 200, body: { status: 'ready', ...(others.length > 0 && { degraded: others }) } };
      },
    }),
  ];
}
