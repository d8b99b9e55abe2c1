import type { RevisionId } from './scorecard-store.ts';
import { compiledPhraseBytes, type Scorecard } from './scorecard.ts';

/** In bytes, approximately: room for some hundred scorecards with ordinary phrases, or for a few of the largest. */
const DEFAULT_CAPACITY = 128 * 1024 * 1024;
/** The size of a scorecard without the firm's phrases. */
const BASE_BYTES = 100 * 1024;

/**
 * The revisions that calls were recently scored by. When it is full, it drops those that were used least recently. A
 * revision never changes, so no entry becomes stale. The object for a revision is always the same, because an analyst may
 * keep what it prepares for a scorecard with the object.
 */
export class ScorecardCache {
  readonly #entries = new Map<string, { scorecard: Scorecard; bytes: number }>();
  readonly #capacity: number;
  #bytes = 0;

  constructor(capacity = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  /** The scorecards of these revisions, in order. Calls `fetch` once for those that are not cached. */
  async get(
    revisions: readonly RevisionId[],
    fetch: (missing: RevisionId[]) => Promise<Scorecard[]>,
  ): Promise<Scorecard[]> {
    const found = new Map<string, Scorecard>();
    const missing = new Map<string, RevisionId>();
    for (const revision of revisions) {
      const entry = this.#entries.get(keyOf(revision));
      if (entry === undefined) missing.set(keyOf(revision), revision);
      else found.set(keyOf(revision), entry.scorecard);
    }
    if (missing.size > 0) {
      for (const fetched of await fetch([...missing.values()])) found.set(keyOf(fetched), this.#add(fetched));
    }
    return revisions.map((revision) => {
      const scorecard = found.get(keyOf(revision));
      if (scorecard === undefined) throw new Error(`There is no revision ${keyOf(revision)}.`);
      this.#markUsed(keyOf(revision));
      return scorecard;
    });
  }

  /** Returns the cached object instead when another caller has fetched the same revision in the meantime. */
  #add(scorecard: Scorecard): Scorecard {
    const key = keyOf(scorecard);
    const known = this.#entries.get(key);
    if (known !== undefined) return known.scorecard;
    const bytes = BASE_BYTES + compiledPhraseBytes(scorecard);
    this.#entries.set(key, { scorecard, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#entries) {
      if (this.#bytes <= this.#capacity || oldest === key) break;
      this.#entries.delete(oldest);
      this.#bytes -= freed;
    }
    return scorecard;
  }

  #markUsed(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }
}

function keyOf({ uuid, revision }: RevisionId): string {
  return `${uuid}/${revision}`;
}
