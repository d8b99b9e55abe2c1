interface Entry<Value> {
  readonly value: Value;
  readonly expiresAt: number;
}

export interface BriefCacheOptions<Value> {
  /** Counted from the moment the question was asked, so that no answer is older than this. */
  readonly ttlMs: number;
  readonly maxEntries: number;
  /** Whether an answer may be remembered. */
  readonly keep: (value: Value) => boolean;
}

/**
 * Remembers answers for a moment; those who ask the same at the same time share one question.
 * Failures are not kept.
 */
export class BriefCache<Value> {
  readonly #options: BriefCacheOptions<Value>;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #asked = new Map<string, Promise<Value>>();

  constructor(options: BriefCacheOptions<Value>) {
    this.#options = options;
  }

  /** At once what is remembered. */
  get(key: string, ask: () => Promise<Value>): Value | Promise<Value> {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      this.#entries.delete(key);
      if (performance.now() < entry.expiresAt) {
        this.#entries.set(key, entry);
        return entry.value;
      }
    }
    const asked = this.#asked.get(key) ?? this.#ask(key, ask);
    this.#asked.set(key, asked);
    return asked;
  }

  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, entry] of this.#entries) {
      if (matches(entry.value)) this.#entries.delete(key);
    }
  }

  async #ask(key: string, ask: () => Promise<Value>): Promise<Value> {
    const expiresAt = performance.now() + this.#options.ttlMs;
    try {
      const value = await Promise.try(ask);
      if (this.#options.keep(value)) this.#remember(key, { value, expiresAt });
      return value;
    } finally {
      this.#asked.delete(key);
    }
  }

  #remember(key: string, entry: Entry<Value>): void {
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#options.maxEntries) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}
