import type { Logger } from '../log/log.ts';
import { type Span, takeSpans } from './spans.ts';

export interface SpanExportOptions {
  /** Of an OpenTelemetry collector that takes OTLP over HTTP; `/v1/traces` is added. */
  readonly endpoint: string;
  /** Sent along, for a collector that asks who it is. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long spans may wait for company. Default 5000. */
  readonly delayMs?: number;
  /** How long one sending may take, with its repetitions. Default 10,000. */
  readonly timeoutMs?: number;
}

/** What waits beyond this is dropped: a collector that is away must not cost the memory of the service. */
const MOST_WAITING = 8192;
const CLOSE_MS = 2000;
const COMPLAIN_EVERY_MS = 60_000;

const KIND = { server: 1, consumer: 4 } as const;
const OK = 1;
const ERROR = 2;
const SAMPLED = 1;

/** Sends spans that were sampled to a collector. Its libraries are loaded here, and only here: 110 ms and 24 MiB. */
export async function exportSpans(
  options: SpanExportOptions,
  log: Pick<Logger, 'warn'>,
): Promise<{ close(): Promise<void> }> {
  const [{ OTLPTraceExporter }, { BatchSpanProcessor }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  const complain = quieten(log);
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: options.timeoutMs ?? 10_000,
    ...(options.headers !== undefined && { headers: options.headers }),
  });
  const processor = new BatchSpanProcessor({
    exporter: {
      export: (spans, done) =>
        exporter.export(spans, (result) => {
          if (result.error !== undefined) complain(result.error);
          // Told to the processor as a success, because it has no other use for a failure than to complain itself.
          done({ code: 0 });
        }),
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
      shutdown: () => exporter.shutdown(),
    },
    maxQueueSize: MOST_WAITING,
    scheduledDelayMillis: options.delayMs ?? 5000,
  });
  const resources = new Map<string, ReturnType<typeof resourceFromAttributes>>();

  function resourceOf(service: string) {
    let resource = resources.get(service);
    if (resource === undefined) {
      resource = resourceFromAttributes({ 'service.name': service, 'service.namespace': 'call-analysis' });
      resources.set(service, resource);
    }
    return resource;
  }

  function finished(span: Span): Parameters<typeof processor.onEnd>[0] {
    const context = spanContext(span.traceparent);
    return {
      name: span.name,
      kind: KIND[span.kind],
      spanContext: () => context,
      ...(span.parent !== undefined && { parentSpanContext: { ...spanContext(span.parent), isRemote: true } }),
      startTime: highResolution(span.beganAt),
      endTime: highResolution(span.beganAt + span.ms),
      duration: highResolution(span.ms),
      status: span.failure === undefined ? { code: OK } : { code: ERROR, message: span.failure },
      attributes: { ...span.attributes },
      resource: resourceOf(span.service),
      instrumentationScope: { name: 'call-analysis' },
      links: [],
      events: [],
      ended: true,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  }

  const leave = takeSpans((span) => processor.onEnd(finished(span)));
  return {
    async close() {
      leave();
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, CLOSE_MS);
      await Promise.race([processor.shutdown().catch(complain), late.promise]);
      clearTimeout(timer);
    },
  };
}

// `00-<trace id>-<span id>-<flags>`
function spanContext(traceparent: string) {
  const flags = Number.parseInt(traceparent.slice(53, 55), 16);
  return { traceId: traceparent.slice(3, 35), spanId: traceparent.slice(36, 52), traceFlags: flags & SAMPLED };
}

function highResolution(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

function quieten(log: Pick<Logger, 'warn'>): (error: unknown) => void {
  let next = 0;
  return (error) => {
    if (performance.now() < next) return;
    next = performance.now() + COMPLAIN_EVERY_MS;
    log.warn({ err: error }, 'traces could not be sent to the collector');
  };
}
