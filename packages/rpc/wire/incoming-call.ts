import { AsyncLocalStorage } from 'node:async_hooks';
import type { Call } from './methods.ts';

/** A call whose handler runs in this process. */
export class IncomingCall implements Call {
  readonly deadline: Date | undefined;
  callers: readonly string[] | undefined;
  /** Whether the handler has returned. */
  isOver = false;
  readonly #abort = new AbortController();

  /** `deadline` as grpc-js has it: Infinity when there is none. */
  constructor(deadline: Date | number) {
    this.deadline = deadline === Number.POSITIVE_INFINITY ? undefined : new Date(deadline);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the answer is not needed any more; undefined while the caller waits. */
  get cancelledBy(): Error | undefined {
    return this.signal.reason as Error | undefined;
  }

  cancel(reason: Error): void {
    this.#abort.abort(reason);
  }
}

const current = new AsyncLocalStorage<IncomingCall>();

/** Runs a handler, and everything it starts, as part of a call. */
export function within<Result>(call: IncomingCall, work: () => Result): Result {
  return current.run(call, work);
}

/**
 * The deadline of the call that is being handled, in milliseconds since 1970. Later, answers to calls made for it are
 * of no use. Infinity outside a call, and for work that goes on after the handler has returned.
 */
export function inheritedDeadline(): number {
  const call = current.getStore();
  return call === undefined || call.isOver
    ? Number.POSITIVE_INFINITY
    : (call.deadline?.getTime() ?? Number.POSITIVE_INFINITY);
}

/** The calls whose handlers have not returned. */
export class InFlight {
  readonly #calls = new Set<IncomingCall>();
  #emptied: PromiseWithResolvers<void> | undefined;

  get size(): number {
    return this.#calls.size;
  }

  add(call: IncomingCall): void {
    this.#calls.add(call);
  }

  remove(call: IncomingCall): void {
    call.isOver = true;
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#emptied?.resolve();
  }

  cancelAll(reason: Error): void {
    for (const call of this.#calls) call.cancel(reason);
  }

  /** Resolves when the last handler has returned. */
  empty(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    this.#emptied ??= Promise.withResolvers<void>();
    return this.#emptied.promise;
  }
}
