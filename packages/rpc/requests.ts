/** So much of a stream is kept for another try; more is sent once the server has begun. */
const KEPT_BYTES = 512 * 1024;

/**
 * What a caller streams, kept from the start until the server says that it has begun: before that another server may
 * have to be sent the same.
 */
export class Requests {
  readonly #source: AsyncIterator<unknown>;
  #kept: unknown[] = [];
  #keptBytes = 0;
  #gone = 0;
  #isDone = false;
  #taking: Promise<void> | undefined;
  readonly #begun = Promise.withResolvers<void>();
  #hasBegun = false;

  constructor(source: AsyncIterable<unknown>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Whether all can be sent again. */
  get isWhole(): boolean {
    return !this.#hasBegun;
  }

  begin(): void {
    this.#hasBegun = true;
    this.#begun.resolve();
  }

  /** The request at a place, or undefined after the last one and when the try is over. Rejects as the source does. */
  async at(index: number, over: AbortSignal): Promise<{ request: unknown } | undefined> {
    while (index - this.#gone >= this.#kept.length && !this.#isDone) {
      if (!this.#hasBegun && this.#keptBytes >= KEPT_BYTES) await this.#begun.promise;
      else await (this.#taking ??= this.#take());
      if (over.aborted) return undefined;
    }
    if (this.#hasBegun) {
      this.#kept.splice(0, index - this.#gone);
      this.#gone = index;
    }
    return this.#kept.length > index - this.#gone ? { request: this.#kept[index - this.#gone] } : undefined;
  }

  /** Lets the source go, whether or not it was read to its end. */
  close(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    // A source that is busy hears of it when it has come to its next request; nobody waits for that.
    void this.#source.return?.().catch(() => {});
  }

  async #take(): Promise<void> {
    try {
      const next = await this.#source.next();
      if (next.done === true) {
        this.#isDone = true;
      } else {
        this.#kept.push(next.value);
        if (!this.#hasBegun) this.#keptBytes += sizeOf(next.value);
      }
    } catch (error) {
      this.#isDone = true;
      throw error;
    } finally {
      this.#taking = undefined;
    }
  }
}

/** Near enough: what is large is bytes or text. */
function sizeOf(request: unknown): number {
  let bytes = 0;
  for (const value of Object.values(Object(request) as object)) {
    if (value instanceof Uint8Array || typeof value === 'string') bytes += value.length;
  }
  return bytes;
}
