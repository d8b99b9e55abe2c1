/** What a bucket says to a request that asks for its share. */
export interface Share {
  readonly granted: boolean;
  /** Requests that would still be granted at once. */
  readonly left: number;
  /** Until the bucket is full again. */
  readonly fullInMs: number;
  /** Until this request would be granted. */
  readonly waitMs: number;
}

/** How long an empty bucket takes to fill. */
export const WINDOW_MS = 60_000;

/**
 * Token buckets by key (GCRA: a bucket is the moment at which it will be full). Each holds a minute's worth, all of which
 * may be taken at once, and fills evenly. A key that was not seen for a minute has a full bucket and needs no memory;
 * when more than `maxKeys` come within half of that, those seen longest ago are full before their time.
 */
export class Buckets {
  readonly #perTokenMs: number;
  readonly #maxKeys: number;
  #recent = new Map<string, number>();
  #former = new Map<string, number>();
  #turnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: { perMinute: number; maxKeys?: number }) {
    this.#perTokenMs = WINDOW_MS / options.perMinute;
    this.#maxKeys = options.maxKeys ?? 100_000;
  }

  take(key: string, nowMs: number): Share {
    const fullAt = Math.max(this.#fullAt(key, nowMs), nowMs);
    const waitMs = fullAt + this.#perTokenMs - nowMs - WINDOW_MS;
    // Sums of fractions are a little more than they should be.
    if (waitMs > 1e-6) return this.#share(false, fullAt - nowMs, waitMs);
    this.#recent.set(key, fullAt + this.#perTokenMs);
    return this.#share(true, fullAt + this.#perTokenMs - nowMs, 0);
  }

  /** Takes what is there, up to so many: the price of something that has happened already. */
  charge(key: string, tokens: number, nowMs: number): void {
    const fullAt = Math.max(this.#fullAt(key, nowMs), nowMs) + tokens * this.#perTokenMs;
    this.#recent.set(key, Math.min(fullAt, nowMs + WINDOW_MS));
  }

  get size(): number {
    return this.#recent.size + this.#former.size;
  }

  #share(granted: boolean, fullInMs: number, waitMs: number): Share {
    const left = Math.max(0, Math.floor((WINDOW_MS - fullInMs) / this.#perTokenMs + 1e-6));
    return { granted, left, fullInMs, waitMs };
  }

  #fullAt(key: string, nowMs: number): number {
    if (nowMs - this.#turnedAt > WINDOW_MS || this.#recent.size >= this.#maxKeys / 2) {
      this.#former = this.#recent;
      this.#recent = new Map();
      this.#turnedAt = nowMs;
    }
    return this.#recent.get(key) ?? this.#former.get(key) ?? 0;
  }
}
