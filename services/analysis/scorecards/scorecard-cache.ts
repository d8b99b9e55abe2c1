import type { RevisionName } from './scorecard-store.ts';
import { phraseBytes, type Scorecard } from './scorecard.ts';

/** Bytes, about: of scorecards with ordinary phrases some hundred, of the largest there can be a few. */
const ROOM = 128 * 1024 * 1024;
/** What a scorecard without phrases of its own takes. */
const BARE = 100 * 1024;

/**
 * Revisions that were lately scored by, each the same object every time, because what an analyst has prepared for a
 * scorecard hangs on the object. A revision never changes, so nothing here grows old; what was used longest ago goes.
 */
export class Shelf {
  readonly #kept = new Map<string, { scorecard: Scorecard; bytes: number }>();
  readonly #room: number;
  #bytes = 0;

  constructor(room = ROOM) {
    this.#room = room;
  }

  /** Scorecards by name, in order; `fetch` is asked for those that are not here. */
  async take(
    names: readonly RevisionName[],
    fetch: (missing: RevisionName[]) => Promise<Scorecard[]>,
  ): Promise<Scorecard[]> {
    const found = new Map<string, Scorecard>();
    const missing = new Map<string, RevisionName>();
    for (const name of names) {
      const kept = this.#kept.get(keyOf(name));
      if (kept === undefined) missing.set(keyOf(name), name);
      else found.set(keyOf(name), kept.scorecard);
    }
    if (missing.size > 0) {
      for (const fetched of await fetch([...missing.values()])) found.set(keyOf(fetched), this.#put(fetched));
    }
    return names.map((name) => {
      const scorecard = found.get(keyOf(name));
      if (scorecard === undefined) throw new Error(`There is no revision ${keyOf(name)}.`);
      this.#touch(keyOf(name));
      return scorecard;
    });
  }

  /** The object that is kept already, when somebody else has fetched the same meanwhile. */
  #put(scorecard: Scorecard): Scorecard {
    const key = keyOf(scorecard);
    const known = this.#kept.get(key);
    if (known !== undefined) return known.scorecard;
    const bytes = BARE + phraseBytes(scorecard);
    this.#kept.set(key, { scorecard, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#bytes <= this.#room || oldest === key) break;
      this.#kept.delete(oldest);
      this.#bytes -= freed;
    }
    return scorecard;
  }

  #touch(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
  }
}

function keyOf({ uuid, revision }: RevisionName): string {
  return `${uuid}/${revision}`;
}
