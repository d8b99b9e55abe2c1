import { unavailable } from '@call-analysis/fault';
import { type Context, currentContext, newContext, withContext } from '@call-analysis/runtime';

interface BatchedLookupsOptions<Key, Value> {
  /** Returns one value for each key, in the same order. */
  readonly findAll: (keys: readonly Key[]) => Promise<readonly Value[]>;
  /** The service that is asked, for the error of a lookup that waited too long. */
  readonly name: string;
  readonly maxBatch: number;
  /** How many batches may be in flight at the same time. */
  readonly maxInFlight: number;
  /** A lookup that has waited longer than this fails instead of being sent. */
  readonly maxWaitMs: number;
}

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly since: number;
  readonly context: Context | undefined;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

/**
 * Sends concurrent lookups as one. While fewer than `maxInFlight` batches are in flight, a lookup waits only for others of
 * the same turn of the event loop. Later ones are sent together when a batch has returned. An error rejects every lookup
 * of its batch and no other. (DataLoader batches too, but bounds neither the batches in flight nor the wait.)
 */
export class BatchedLookups<Key, Value> {
  readonly #options: BatchedLookupsOptions<Key, Value>;
  /** The longest waiting first. */
  readonly #waiting: Waiting<Key, Value>[] = [];
  #inFlight = 0;
  #isSending = false;

  constructor(options: BatchedLookupsOptions<Key, Value>) {
    this.#options = options;
  }

  find(key: Key): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, since: performance.now(), context: currentContext(), resolve, reject });
      this.#sendSoon();
    });
  }

  // Sending immediately would send the first of many concurrent lookups in a batch of its own.
  #sendSoon(): void {
    if (this.#isSending || this.#inFlight === this.#options.maxInFlight || this.#waiting.length === 0) return;
    this.#isSending = true;
    setImmediate(() => {
      this.#isSending = false;
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

  /** Takes the next batch, and rejects lookups that have waited too long. */
  #nextBatch(): Waiting<Key, Value>[] {
    const { maxBatch, maxWaitMs, name } = this.#options;
    const tooLong = performance.now() - maxWaitMs;
    const firstInTime = this.#waiting.findIndex(({ since }) => since >= tooLong);
    const late = this.#waiting.splice(0, firstInTime === -1 ? this.#waiting.length : firstInTime);
    for (const { reject } of late) reject(unavailable(name));
    return this.#waiting.splice(0, maxBatch);
  }

  async #settle(batch: readonly Waiting<Key, Value>[]): Promise<void> {
    try {
      // Many requests share the batch, but an RPC has only one request id.
      const context = batch[0]?.context ?? newContext();
      const values = await withContext(context, () => this.#options.findAll(batch.map(({ key }) => key)));
      if (values.length !== batch.length) {
        throw new Error(`${values.length} values were returned for ${batch.length} keys.`);
      }
      for (const [index, value] of values.entries()) batch[index]?.resolve(value);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
