/** Something that was done on behalf of a trace, when it is over. */
export interface Span {
  /** Which service did it. */
  readonly service: string;
  /** Of a bounded set: a route, a method, a consumer. */
  readonly name: string;
  readonly kind: 'server' | 'consumer';
  /** W3C trace context with the span's own id. */
  readonly traceparent: string;
  /** The trace context of what caused it; undefined at the root. */
  readonly parent: string | undefined;
  /** Milliseconds since 1970. */
  readonly beganAt: number;
  readonly ms: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The code of what went wrong; absent when nothing did. */
  readonly failure?: string | undefined;
}

let take: ((span: Span) => void) | undefined;

/** Whether somebody wants spans: making them for nobody would be the larger part of their cost. */
export function isTracing(): boolean {
  return take !== undefined;
}

export function recordSpan(span: Span): void {
  take?.(span);
}

/** From now on spans go there, until what it returns is called. There is one taker at a time. */
export function takeSpans(taker: (span: Span) => void): () => void {
  take = taker;
  return () => {
    if (take === taker) take = undefined;
  };
}
