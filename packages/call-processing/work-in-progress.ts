import type { Event } from '@call-analysis/events';

/** A call is identified by firm and uuid: another firm's event with the same uuid is about another call. */
type Subject = Pick<Event, 'firmuuid' | 'subject'>;

/** A consumer's work in progress by call, so that it stops when the call is erased or canceled. */
export class WorkInProgress {
  readonly #controllers = new Map<string, Set<AbortController>>();

  /** Runs the work; its signal aborts when `abort` is called for the same call. */
  async run<Result>(subject: Subject, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const key = keyOf(subject);
    const controllers = this.#controllers.get(key) ?? new Set();
    this.#controllers.set(key, controllers);
    const controller = new AbortController();
    controllers.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      controllers.delete(controller);
      if (controllers.size === 0) this.#controllers.delete(key);
    }
  }

  abort(subject: Subject): void {
    for (const controller of this.#controllers.get(keyOf(subject)) ?? []) controller.abort(new Error(REASON));
  }

  /** Stops the work on all calls of a firm. */
  abortFirm(firmUuid: string): void {
    for (const [key, controllers] of this.#controllers) {
      if (!key.startsWith(`${firmUuid}/`)) continue;
      for (const controller of controllers) controller.abort(new Error(REASON));
    }
  }
}

const REASON = 'The call was erased or canceled.';

function keyOf({ firmuuid, subject }: Subject): string {
  return `${firmuuid}/${subject}`;
}
