import { exposition, EXPOSITION_TYPE } from '@call-analysis/runtime';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';

/** The metrics of this process and of the services in it (docs/api.md, "Operations endpoints"). */
export function metrics(): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/metrics',
      credentials: 'none',
      unlimited: true,
      docs: {
        tag: 'Service',
        id: 'getMetrics',
        summary: 'Read the metrics',
        description:
          'Metrics of the process that answers, in the text format of Prometheus. They contain no data of firms or calls.',
        responses: { 200: { description: 'The metrics.', type: 'text/plain' } },
      },
      async handle({ request, response }) {
        const metrics = Buffer.from(await exposition());
        response.writeHead(200, { 'content-type': EXPOSITION_TYPE, 'content-length': metrics.length });
        response.end(request.method === 'HEAD' ? undefined : metrics);
        return undefined;
      },
    }),
  ];
}
