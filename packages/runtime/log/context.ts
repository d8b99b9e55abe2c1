import { AsyncLocalStorage } from 'node:async_hooks';
import { randomFillSync, randomUUID } from 'node:crypto';

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

/** The first span of a new trace: random ids, sampled. */
export function newTraceparent(): string {
  const ids = nonZeroHex(24);
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-01`;
}

/** A new span with the trace and flags of its parent. An invalid parent starts a new trace. */
export function childTraceparent(parent: string): string {
  if (!isTraceparent(parent)) return newTraceparent();
  return `${parent.slice(0, 36)}${nonZeroHex(8)}${parent.slice(52)}`;
}

export function isRequestId(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(text);
}

/** Version 00 of https://www.w3.org/TR/trace-context/; ids of only zeros are invalid there. */
export function isTraceparent(text: string): boolean {
  return /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
}

const pool = Buffer.alloc(4096);
let used = pool.length;

// Every hop needs ids. Taking them from a pool is many times cheaper than requesting a few random bytes each time.
// An id of random bytes is all zeros once in 2^64 draws. Setting one bit in each costs less than checking.
function nonZeroHex(size: number): string {
  if (used + size > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const from = used;
  used += size;
  pool[from]! |= 1;
  pool[used - 1]! |= 1;
  return pool.toString('hex', from, used);
}
