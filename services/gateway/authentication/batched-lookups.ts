import { unavailable } from '@call-analysis/fault';
import { type Context, currentContext, newContext, withContext } from '@call-analysis/runtime';

export interface BatcherOptions<Question, Answer> {
  /** One answer for each question, in their order. */
  readonly ask: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  /** Who answers, as it stands in the message to a question that waited in vain. */
  readonly name: string;
  readonly maxBatch: number;
  /** Batches on their way at the same time. */
  readonly maxInFlight: number;
  /** A question that has waited longer for its turn is refused when its turn comes. */
  readonly maxWaitMs: number;
}

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly since: number;
  readonly context: Context | undefined;
  resolve(answer: Answer): void;
  reject(reason: unknown): void;
}

/**
 * Asks many questions as one. While few batches are on their way a question waits for nothing but the others of the same
 * turn of the event loop; those that come later go together when an answer has come. A failure is that of every question
 * of its batch and of no other.
 */
export class Batcher<Question, Answer> {
  readonly #options: BatcherOptions<Question, Answer>;
  /** Longest waiting first. */
  readonly #waiting: Waiting<Question, Answer>[] = [];
  #inFlight = 0;
  #sending = false;

  constructor(options: BatcherOptions<Question, Answer>) {
    this.#options = options;
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, since: performance.now(), context: currentContext(), resolve, reject });
      this.#sendSoon();
    });
  }

  // At once would send the first of many requests that have arrived together ahead of all others, alone.
  #sendSoon(): void {
    if (this.#sending || this.#inFlight === this.#options.maxInFlight || this.#waiting.length === 0) return;
    this.#sending = true;
    setImmediate(() => {
      this.#sending = false;
      this.#send();
    });
  }

  #send(): void {
    while (this.#inFlight < this.#options.maxInFlight) {
      const batch = this.#nextBatch();
      if (batch.length === 0) return;
      this.#inFlight++;
      void this.#settle(batch).finally(() => {
        this.#inFlight--;
        this.#sendSoon();
      });
    }
  }

  /** Those whose turn it is and who have not waited too long. */
  #nextBatch(): Waiting<Question, Answer>[] {
    const { maxBatch, maxWaitMs, name } = this.#options;
    const tooLong = performance.now() - maxWaitMs;
    const firstInTime = this.#waiting.findIndex(({ since }) => since >= tooLong);
    const late = this.#waiting.splice(0, firstInTime === -1 ? this.#waiting.length : firstInTime);
    for (const { reject } of late) reject(unavailable(name));
    return this.#waiting.splice(0, maxBatch);
  }

  async #settle(batch: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      // Many requests share the batch, and it can bear the name of one alone.
      const context = batch[0]?.context ?? newContext();
      const answers = await withContext(context, () => this.#options.ask(batch.map(({ question }) => question)));
      if (answers.length !== batch.length) {
        throw new Error(`${batch.length} questions were given ${answers.length} answers.`);
      }
      for (const [place, answer] of answers.entries()) batch[place]?.resolve(answer);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
