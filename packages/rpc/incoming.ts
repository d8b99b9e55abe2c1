import { AsyncLocalStorage } from 'node:async_hooks';
import type { Call } from './methods.ts';

/** One call in the hands of its handler. */
export class IncomingCall implements Call {
  readonly deadline: Date | undefined;
  #cancelledBy: Error | undefined;
  #isOver = false;
  // Most handlers never look at their signal, and making one for each call costs more than the rest of this class.
  #abort: AbortController | undefined;

  /** `deadline` as grpc-js has it: Infinity when there is none. */
  constructor(deadline: Date | number) {
    this.deadline = deadline === Number.POSITIVE_INFINITY ? undefined : new Date(deadline);
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#cancelledBy !== undefined) this.#abort.abort(this.#cancelledBy);
    }
    return this.#abort.signal;
  }

  /** Why nobody waits for the answer any more; undefined while somebody does. */
  get cancelledBy(): Error | undefined {
    return this.#cancelledBy;
  }

  /** Whether the handler has returned. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
  }

  cancel(reason: Error): void {
    this.#cancelledBy ??= reason;
    this.#abort?.abort(this.#cancelledBy);
  }
}

const current = new AsyncLocalStorage<IncomingCall>();

/** Runs a handler, and everything it starts, as part of a call. */
export function within<Result>(call: IncomingCall, work: () => Result): Result {
  return current.run(call, work);
}

/**
 * When the call that is being handled here has to be answered, in milliseconds since 1970: what is asked of others for
 * its sake is of no use later. Infinity outside any call, and for what a handler left to be done after it returned.
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
    call.end();
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
