import type { Logger } from '../log/log.ts';
import { settlesWithin } from '../settles-within.ts';

/** A finished operation of a trace. */
export interface Span {
  /** The service that did it. */
  readonly service: string;
  /** From a bounded set: a route, a method, a consumer. */
  readonly name: string;
  readonly kind: 'server' | 'consumer';
  /** W3C trace context with the id of this span. */
  readonly traceparent: string;
  /** The trace context of its parent; undefined at the root. */
  readonly parent: string | undefined;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
  readonly ms: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The code of the failure; absent on success. */
  readonly failure?: string | undefined;
}

let exporter: ((span: Span) => void) | undefined;

/** Whether spans are exported. Creating them costs more than exporting, so callers check this first. */
export function isTracing(): boolean {
  return exporter !== undefined;
}

export function recordSpan(span: Span): void {
  exporter?.(span);
}

export interface SpanExportOptions {
  /** URL of an OpenTelemetry collector that accepts OTLP over HTTP; `/v1/traces` is appended. */
  readonly endpoint: string;
  /** HTTP headers, for a collector that requires authentication. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long spans may wait for their batch. Default 5000. */
  readonly delayMs?: number;
  /** How long one export may take, with its retries. Default 10,000. */
  readonly timeoutMs?: number;
}

/** Spans beyond this are dropped: an unavailable collector must not fill the memory of the service. */
const MAX_WAITING = 8192;
const CLOSE_MS = 2000;
const LOG_INTERVAL_MS = 60_000;

const KIND = { server: 1, consumer: 4 } as const;
const OK = 1;
const ERROR = 2;
const SAMPLED = 1;

/**
 * Exports sampled spans to a collector. A process has one exporter: a second call replaces the first. Its libraries are
 * only loaded here: 110 ms and 24 MiB.
 */
export async function exportSpans(
  options: SpanExportOptions,
  log: Pick<Logger, 'warn'>,
): Promise<{ close(): Promise<void> }> {
  const [{ OTLPTraceExporter }, { BatchSpanProcessor }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  const logFailure = limited(log);
  const collector = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: options.timeoutMs ?? 10_000,
    ...(options.headers !== undefined && { headers: options.headers }),
  });
  const processor = new BatchSpanProcessor({
    exporter: {
      export: (spans, done) =>
        collector.export(spans, (result) => {
          if (result.error !== undefined) logFailure(result.error);
          // Reported to the processor as a success: on a failure it would only log a line of its own.
          done({ code: 0 });
        }),
      forceFlush: () => collector.forceFlush?.() ?? Promise.resolve(),
      shutdown: () => collector.shutdown(),
    },
    maxQueueSize: MAX_WAITING,
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

  const receive = (span: Span) => processor.onEnd(finished(span));
  exporter = receive;
  return {
    async close() {
      if (exporter === receive) exporter = undefined;
      await settlesWithin(processor.shutdown().catch(logFailure), CLOSE_MS);
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

function limited(log: Pick<Logger, 'warn'>): (error: unknown) => void {
  let next = 0;
  return (error) => {
    if (performance.now() < next) return;
    next = performance.now() + LOG_INTERVAL_MS;
    log.warn({ err: error }, 'spans could not be exported');
  };
}
