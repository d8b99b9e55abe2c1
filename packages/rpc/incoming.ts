import type { Call } from './methods.ts';

/** One call in the hands of its handler. */
export class IncomingCall implements Call {
  readonly deadline: Date | undefined;
  #cancelledBy: Error | undefined;
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

  cancel(reason: Error): void {
    this.#cancelledBy ??= reason;
    this.#abort?.abort(this.#cancelledBy);
  }
}

/** The calls whose handlers have not returned. */
export class InFlight {
  readonly #calls = new Set<IncomingCall>();
  #emptied: PromiseWithResolvers<void> | undefined;

  add(call: IncomingCall): void {
    this.#calls.add(call);
  }

  remove(call: IncomingCall): void {
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
