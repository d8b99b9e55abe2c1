import { Fault } from '@call-analysis/fault';
import type { RawRecord } from './scanner.ts';

type Batches = AsyncIterable<readonly RawRecord[]>;

/** How many batches are read ahead for each batch that is taken in. */
const AHEAD = 64;

/**
 * Reads a file to its end ahead of the intake of its rows, which takes twenty times as long: a fault of the file in its
 * last line is found before most rows are stored in vain. Most of the reading is done while the database stores rows.
 */
export class LookAhead {
  readonly #open: () => Promise<{ readonly batches: Batches }>;
  #batches: AsyncIterator<readonly RawRecord[]> | null = null;
  #isDone = false;

  constructor(open: () => Promise<{ readonly batches: Batches }>) {
    this.#open = open;
  }

  /** Call before each batch of the intake but the first, so that a short file is read once. Throws the fault of the file. */
  async proceed(): Promise<void> {
    if (this.#isDone) return;
    try {
      this.#batches ??= (await this.#open()).batches[Symbol.asyncIterator]();
      for (let count = 0; count < AHEAD && !this.#isDone; count++) {
        this.#isDone = (await this.#batches.next()).done === true;
      }
    } catch (error) {
      this.#isDone = true;
      // Any other error, as of the object store, is the intake's own to meet.
      if (error instanceof Fault && error.kind === 'invalid') throw error;
    }
  }

  async stop(): Promise<void> {
    this.#isDone = true;
    await this.#batches?.return?.();
  }
}
