import { exposition, EXPOSITION_TYPE } from '@call-analysis/runtime';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { Quota } from '../../http/rate-limits/rate-limits.ts';

/** Monitoring reads them every few seconds. Several systems may do so from the same address. */
const PER_MINUTE = 600;

/** The metrics of this process and of the services in it (docs/api.md, "Operations endpoints"). */
export function metrics(): Endpoint[] {
  // Separate from the limit of other requests: monitoring must get through while a client at the same address uses that
  // up.
  const quota = new Quota('metrics', PER_MINUTE, 'The metrics were read too often from your address');
  return [
    endpoint({
      method: 'GET',
      path: '/metrics',
      credentials: 'none',
      unlimited: true,
      tag: 'Service',
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
  ];
}
