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

/** Passes spans to `receive` until the returned function is called. There is one receiver at a time. */
export function receiveSpans(receive: (span: Span) => void): () => void {
  exporter = receive;
  return () => {
    if (exporter === receive) exporter = undefined;
  };
}
