import type { ListenConfig } from '@call-analysis/bus';
import type { AsyncApi } from '@call-analysis/bus/asyncapi';
import { Fault } from '@call-analysis/fault';
import { exposition, EXPOSITION_TYPE, type Readiness } from '@call-analysis/runtime';
import { z } from 'zod';
import type { Endpoint } from '../../http/endpoint.ts';
import { Quota } from '../../http/rate-limits/rate-limits.ts';
import { ownEndpoint } from '../rpc-caller.ts';

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

/** Monitoring reads them every few seconds. Several systems may do so from the same address. */
const PER_MINUTE = 600;

/** What programs read that operate the service, or consume its events (docs/api.md, "Operations endpoints"; docs/events.md). */
export function operations(readiness: Readiness, bus?: ListenConfig): Endpoint[] {
  // Separate from the limit of other requests: monitoring must get through while a client at the same address uses that
  // up.
  const quota = new Quota('metrics', PER_MINUTE, 'The metrics were read too often from your address');
  let document: AsyncApi | undefined;
  return [
    ownEndpoint({
      method: 'GET',
      path: '/healthz',
      unlimited: true,
      id: 'getHealth',
      summary: 'Check that the process is alive',
      responses: { 200: { description: 'The process is alive.', schema: Health } },
      handle: async () => ({ status: 200, body: { status: 'ok' } }),
    }),
    ownEndpoint({
      method: 'GET',
      path: '/readyz',
      unlimited: true,
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
    ownEndpoint({
      method: 'GET',
      path: '/metrics',
      unlimited: true,
      id: 'getMetrics',
      summary: 'Read the metrics',
      description:
        'Metrics of the process that answers, in the text format of Prometheus. They contain no data of firms or calls.',
      responses: { 200: { description: 'The metrics.', type: 'text/plain' } },
      errors: ['RATE_LIMITED'],
      async handle({ response }) {
        quota.count(response.locals.client.network, response);
        const headers = { 'content-type': EXPOSITION_TYPE };
        return { status: 200, headers, body: Buffer.from(await exposition()) };
      },
    }),
    ownEndpoint({
      method: 'GET',
      path: '/asyncapi.json',
      id: 'getAsyncApiDocument',
      summary: 'Get the AsyncAPI document of the events',
      responses: {
        200: {
          description: 'The AsyncAPI 3 document.',
          schema: z.looseObject({ asyncapi: z.string() }).meta({ id: 'AsyncApiDocument' }),
        },
      },
      async handle() {
        if (document === undefined) {
          const { asyncApiDocument } = await import('@call-analysis/bus/asyncapi');
          document = asyncApiDocument(bus?.transport === 'kafka' ? bus.kafka : undefined);
        }
        return { status: 200, body: document };
      },
    }),
  ];
}
