import type { Event } from '@call-analysis/events';

/** Whose subject it is: what another firm tells of the same uuid is about something else. */
type Subject = Pick<Event, 'firmuuid' | 'subject'>;

/** What a consumer has in hand for which subject, so that it can be broken off when that is buried. */
export class InHand {
  readonly #works = new Map<string, Set<AbortController>>();

  /** Runs the work, whose signal aborts when it is broken off. */
  async run<Result>(subject: Subject, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const name = nameOf(subject);
    const works = this.#works.get(name) ?? new Set();
    this.#works.set(name, works);
    const abort = new AbortController();
    works.add(abort);
    try {
      return await work(abort.signal);
    } finally {
      works.delete(abort);
      if (works.size === 0) this.#works.delete(name);
    }
  }

  breakOff(subject: Subject): void {
    for (const abort of this.#works.get(nameOf(subject)) ?? []) abort.abort(new Error('Nothing shall come of it any more.'));
  }
}

function nameOf({ firmuuid, subject }: Subject): string {
  return `${firmuuid}/${subject}`;
}
