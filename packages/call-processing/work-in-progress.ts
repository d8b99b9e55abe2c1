import type { Event } from '@call-analysis/events';

/** A call is identified by firm and uuid: another firm's event with the same uuid is about another call. */
type Subject = Pick<Event, 'firmuuid' | 'subject'>;

/** A consumer's work in progress by call, so that it stops when the call is erased or canceled. */
export class WorkInProgress {
  readonly #running = new Set<{ readonly subject: Subject; readonly controller: AbortController }>();

  /** Runs the work; its signal aborts when `abort` is called for the same call. */
  async run<Result>(subject: Subject, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const running = { subject, controller: new AbortController() };
    this.#running.add(running);
    try {
      return await work(running.controller.signal);
    } finally {
      this.#running.delete(running);
    }
  }

  abort({ firmuuid, subject }: Subject): void {
    this.#abortThose((each) => each.firmuuid === firmuuid && each.subject === subject);
  }

  abortFirm(firmUuid: string): void {
    this.#abortThose(({ firmuuid }) => firmuuid === firmUuid);
  }

  #abortThose(isMeant: (subject: Subject) => boolean): void {
    for (const { subject, controller } of this.#running)
      if (isMeant(subject)) controller.abort(new Error('The call was erased or canceled.'));
  }
}
