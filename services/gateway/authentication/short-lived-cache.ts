interface Entry<Value> {
  readonly value: Value;
  readonly expiresAt: number;
}

interface ShortLivedCacheOptions<Value> {
  /** Counted from the start of the lookup, so that no value is older than this. */
  readonly ttlMs: number;
  readonly maxEntries?: number;
  /** For values that end sooner. Counted from the same moment. */
  readonly maxTtlMs?: (value: Value) => number;
}

/**
 * Caches the results of lookups for a short time, except null. Concurrent lookups of one key share one. Errors are not
 * cached.
 */
export class ShortLivedCache<Value> {
  readonly #options: ShortLivedCacheOptions<Value>;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #lookups = new Map<string, Promise<Value | null>>();

  constructor(options: ShortLivedCacheOptions<Value>) {
    this.#options = options;
  }

  async get(key: string, find: () => Promise<Value | null>): Promise<Value | null> {
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

  async #find(key: string, find: () => Promise<Value | null>): Promise<Value | null> {
    const { ttlMs, maxEntries = 10_000, maxTtlMs } = this.#options;
    const began = performance.now();
    try {
      const value = await Promise.try(find);
      if (value !== null) {
        const livesMs = Math.min(ttlMs, maxTtlMs?.(value) ?? ttlMs);
        this.#entries.set(key, { value, expiresAt: began + livesMs });
      }
      if (this.#entries.size > maxEntries) this.#entries.delete(this.#entries.keys().next().value!);
      return value;
    } finally {
      this.#lookups.delete(key);
    }
  }
}

/** Keeps a value in a set for a minute: longer than what is looked up is cached or in progress. */
export function addForAMinute(set: Set<string>, value: string): void {
  set.add(value);
  setTimeout(() => set.delete(value), 60_000).unref();
}
