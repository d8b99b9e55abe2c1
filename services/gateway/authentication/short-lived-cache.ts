interface Entry<Value> {
  readonly value: Value;
  readonly expiresAt: number;
}

interface ShortLivedCacheOptions<Value> {
  /** Counted from the start of the lookup, so that no value is older than this. */
  readonly ttlMs: number;
  readonly maxEntries: number;
  /** Whether a value may be cached. */
  readonly keep: (value: Value) => boolean;
  /** For values that end sooner. Counted from the same moment. */
  readonly maxTtlMs?: (value: Value) => number;
}

/** Caches the results of lookups for a short time. Concurrent lookups of one key share one. Errors are not cached. */
export class ShortLivedCache<Value> {
  readonly #options: ShortLivedCacheOptions<Value>;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #lookups = new Map<string, Promise<Value>>();

  constructor(options: ShortLivedCacheOptions<Value>) {
    this.#options = options;
  }

  /** Returns a cached value itself, not a promise. */
  get(key: string, find: () => Promise<Value>): Value | Promise<Value> {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      this.#entries.delete(key);
      if (performance.now() < entry.expiresAt) {
        this.#entries.set(key, entry);
        return entry.value;
      }
    }
    const lookup = this.#lookups.get(key) ?? this.#find(key, find);
    this.#lookups.set(key, lookup);
    return lookup;
  }

  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, entry] of this.#entries) {
      if (matches(entry.value)) this.#entries.delete(key);
    }
  }

  async #find(key: string, find: () => Promise<Value>): Promise<Value> {
    const { ttlMs, keep, maxTtlMs } = this.#options;
    const began = performance.now();
    try {
      const value = await Promise.try(find);
      const expiresAt = began + Math.min(ttlMs, maxTtlMs?.(value) ?? Infinity);
      if (keep(value)) this.#add(key, { value, expiresAt });
      return value;
    } finally {
      this.#lookups.delete(key);
    }
  }

  #add(key: string, entry: Entry<Value>): void {
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#options.maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
