/** What a consumer has in hand for which subject, so that it can be broken off when that is buried. */
export class InHand {
  readonly #works = new Map<string, Set<AbortController>>();

  /** Runs the work, whose signal aborts when it is broken off. */
  async run<Result>(subject: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const works = this.#works.get(subject) ?? new Set();
    this.#works.set(subject, works);
    const abort = new AbortController();
    works.add(abort);
    try {
      return await work(abort.signal);
    } finally {
      works.delete(abort);
      if (works.size === 0) this.#works.delete(subject);
    }
  }

  breakOff(subject: string): void {
    for (const abort of this.#works.get(subject) ?? []) abort.abort(new Error('Nothing shall come of it any more.'));
  }
}
