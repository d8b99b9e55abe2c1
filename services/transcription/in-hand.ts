/** What is being done for which call, so that it can be broken off when the call is erased. */
export class InHand {
  readonly #works = new Map<string, Set<AbortController>>();

  /** Runs the work, whose signal aborts when it is broken off. */
  async run<Result>(callUuid: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const works = this.#works.get(callUuid) ?? new Set();
    this.#works.set(callUuid, works);
    const abort = new AbortController();
    works.add(abort);
    try {
      return await work(abort.signal);
    } finally {
      works.delete(abort);
      if (works.size === 0) this.#works.delete(callUuid);
    }
  }

  breakOff(callUuid: string): void {
    for (const abort of this.#works.get(callUuid) ?? []) abort.abort(new Error('The call was erased.'));
  }
}
