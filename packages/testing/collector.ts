import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { code: number; message?: string };
  readonly attributes: Record<string, unknown>;
}

interface Attribute {
  readonly key: string;
  readonly value: Record<string, unknown>;
}

interface Sent {
  readonly resourceSpans: {
    readonly resource: { readonly attributes: Attribute[] };
    readonly scopeSpans: {
      readonly spans: (Omit<CollectedSpan, 'service' | 'attributes'> & { attributes: Attribute[] })[];
    }[];
  }[];
}

/** An OpenTelemetry collector that accepts OTLP over HTTP as JSON. */
export async function openCollector() {
  const spans: CollectedSpan[] = [];
  const requests: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    requests.push({ url: request.url, headers: request.headers });
    const sent = (await json(request)) as Sent;
    for (const { resource, scopeSpans } of sent.resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name']);
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, service, attributes: valuesOf(span.attributes) });
      }
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
