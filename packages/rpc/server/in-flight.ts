import type { IncomingCall } from '../wire/incoming-call.ts';

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
