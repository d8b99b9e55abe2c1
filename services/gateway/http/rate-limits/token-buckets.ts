export interface Decision {
  readonly isAllowed: boolean;
  /** Requests that would still be allowed now. */
  readonly remaining: number;
  /** Time until the bucket is full again. */
  readonly fullInMs: number;
  /** Time until this request would be allowed. */
  readonly waitMs: number;
}

/** The time in which an empty bucket fills. */
export const WINDOW_MS = 60_000;

/**
 * Token buckets by key, as GCRA: a bucket is stored as the time at which it will be full. A bucket holds one minute's
 * tokens, all of which may be taken at the same time, and fills evenly.
 *
 * A key that was not seen for a minute has a full bucket and needs no memory. When more than `maxKeys` keys arrive within
 * half a minute, the least recently seen ones are treated as full early.
 */
export class TokenBuckets {
  readonly #perTokenMs: number;
  readonly #maxKeys: number;
  #recent = new Map<string, number>();
  #former = new Map<string, number>();
  #rotatedAt = Number.NEGATIVE_INFINITY;

  constructor(options: { perMinute: number; maxKeys?: number }) {
    this.#perTokenMs = WINDOW_MS / options.perMinute;
    this.#maxKeys = options.maxKeys ?? 100_000;
  }

  take(key: string, nowMs: number): Decision {
    const fullAt = Math.max(this.#fullAt(key, nowMs), nowMs);
    const waitMs = fullAt + this.#perTokenMs - nowMs - WINDOW_MS;
    // Rounding makes sums of fractions slightly too large.
    if (waitMs > 1e-6) return this.#decision(false, fullAt - nowMs, waitMs);
    this.#recent.set(key, fullAt + this.#perTokenMs);
    return this.#decision(true, fullAt + this.#perTokenMs - nowMs, 0);
  }

  /** Undoes one `take`. */
  giveBack(key: string, nowMs: number): void {
    this.#recent.set(key, Math.max(this.#fullAt(key, nowMs) - this.#perTokenMs, nowMs));
  }

  get size(): number {
    return this.#recent.size + this.#former.size;
  }

  #decision(isAllowed: boolean, fullInMs: number, waitMs: number): Decision {
    const remaining = Math.max(0, Math.floor((WINDOW_MS - fullInMs) / this.#perTokenMs + 1e-6));
    return { isAllowed, remaining, fullInMs, waitMs };
  }

  #fullAt(key: string, nowMs: number): number {
    if (nowMs - this.#rotatedAt > WINDOW_MS || this.#recent.size >= this.#maxKeys / 2) {
      this.#former = this.#recent;
      this.#recent = new Map();
      this.#rotatedAt = nowMs;
    }
    return this.#recent.get(key) ?? this.#former.get(key) ?? 0;
  }
}
