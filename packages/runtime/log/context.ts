import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** The request and trace that work belongs to. It is in every log line and is sent with every RPC and event. */
export interface Context {
  /** 1 to 128 of `[A-Za-z0-9._-]` (docs/api.md, "Errors"). */
  readonly requestId: string;
  /** W3C trace context, version 00. */
  readonly traceparent: string;
}

const storage = new AsyncLocalStorage<Context>();

/** Runs `work`, and everything it starts, in a context. */
export function withContext<Result>(context: Context, work: () => Result): Result {
  return storage.run(context, work);
}

/** Undefined outside any request, RPC or event. */
export function currentContext(): Context | undefined {
  return storage.getStore();
}

/** A new context, for work that no request caused. */
export function newContext(): Context {
  return { requestId: randomUUID(), traceparent: newTraceparent() };
}

/** A request's context, and the caller's trace context that it continues. */
export interface IncomingContext {
  readonly context: Context;
  readonly parent: string | undefined;
}

/** The context that a caller has sent, with a new span id. A missing or malformed part is created. */
export function incomingContext(requestId: unknown, traceparent: unknown): IncomingContext {
  const parent = typeof traceparent === 'string' && isTraceparent(traceparent) ? traceparent : undefined;
  return {
    context: {
      requestId: typeof requestId === 'string' && isRequestId(requestId) ? requestId : randomUUID(),
      traceparent: childTraceparent(parent ?? ''),
    },
    parent,
  };
}

/** The first span of a new trace: random ids, sampled. */
export function newTraceparent(): string {
  return `00-${randomHex()}-${newSpanId()}-01`;
}

/** A new span with the trace and flags of its parent. An invalid parent starts a new trace. */
export function childTraceparent(parent: string): string {
  if (!isTraceparent(parent)) return newTraceparent();
  return `${parent.slice(0, 36)}${newSpanId()}${parent.slice(52)}`;
}

export function isRequestId(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(text);
}

/** Version 00 of https://www.w3.org/TR/trace-context/; ids of only zeros are invalid there. */
export function isTraceparent(text: string): boolean {
  return /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
}

function newSpanId(): string {
  return randomHex().slice(16);
}

/** The digits of a UUID. Its fixed bits are in both halves, so neither is an id of only zeros. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
