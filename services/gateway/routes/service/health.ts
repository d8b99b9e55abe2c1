import { Fault } from '@call-analysis/fault';
import type { Readiness } from '@call-analysis/runtime';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';

const Ready = z.object({
  status: z.literal('ready'),
  degraded: z
    .array(z.string())
    .optional()
    .meta({ description: 'Parts that are away; what needs them is done when they are back.' }),
});

/** api.md, section 8. */
export function health(readiness: Readiness): Endpoint[] {
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
        answers: { 200: { description: 'They can.', schema: Ready } },
        refusals: ['UNAVAILABLE'],
      },
      async handle() {
        const { vital, others } = await readiness.missing();
        if (readiness.isDraining) throw new Fault('unavailable', 'UNAVAILABLE', 'The gateway is stopping.');
        if (vital.length > 0) {
          const away = `${vital.join(', ')} ${vital.length === 1 ? 'does' : 'do'} not answer. Try again shortly.`;
          throw new Fault('unavailable', 'UNAVAILABLE', away);
        }
        return { status: 200, body: { status: 'ready', ...(others.length > 0 && { degraded: others }) } };
      },
    }),
  ];
}
