import type { ListenConfig } from '@call-analysis/bus';
import type { AsyncApi } from '@call-analysis/bus/asyncapi';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';

/** The description of the events in Kafka, for programs that consume them (docs/events.md). */
export function events(bus?: ListenConfig): Endpoint[] {
  let document: AsyncApi | undefined;
  return [
    endpoint({
      method: 'GET',
      path: '/asyncapi.json',
      credentials: 'none',
      tag: 'Service',
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
