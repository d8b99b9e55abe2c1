import { exposition, EXPOSITION_TYPE } from '@call-analysis/runtime';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';

/** api.md, section 8: what this process measures, with the services that live in it. */
export function metrics(): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/metrics',
      proof: 'none',
      unlimited: true,
      about: {
        tag: 'Service',
        summary: 'Read measurements',
        description:
          'In the text format of Prometheus, for the process that answers. Nothing in it is of a firm or of a call.',
        answers: { 200: { description: 'All that is measured.', type: 'text/plain' } },
      },
      async handle({ request, response }) {
        const page = Buffer.from(await exposition());
        response.writeHead(200, { 'content-type': EXPOSITION_TYPE, 'content-length': page.length });
        response.end(request.method === 'HEAD' ? undefined : page);
        return undefined;
      },
    }),
  ];
}
