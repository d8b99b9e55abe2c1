import type { Firms } from '@call-analysis/service/firms';
import type { CallKind, RevisionId, ScorecardUse } from './scorecard-store.ts';
import { compiledPhraseBytes, type Scorecard } from './scorecard.ts';

/** A call, with the scorecard that was asked for. */
type Kind = CallKind & { readonly scorecardUuid?: string | undefined };

/** The scorecards that calls are scored by. */
export function openActiveScorecards({ scorecards }: Pick<ScorecardUse, 'scorecards'>, firms: Pick<Firms, 'settings'>) {
  const cache = new ScorecardCache();
  return {
    /**
     * The scorecard revision of each call, in order: the newest of the scorecard that it names, else the active one. A
     * scorecard that is not the firm's counts as not named. Adds the default scorecard to a new firm.
     */
    async find(calls: readonly Kind[]): Promise<Scorecard[]> {
      const kinds = [...new Map(calls.map((call) => [keyOf(call), call])).values()];
      let active = await scorecards.findActive(kinds);
      const newFirms = new Set(kinds.filter((_, index) => active[index] === null).map(({ firmUuid }) => firmUuid));
      if (newFirms.size > 0) {
        for (const firmUuid of newFirms) {
          await scorecards.ensureDefault(firmUuid, async () => (await firms.settings(firmUuid)).language);
        }
        active = await scorecards.findActive(kinds);
      }
      const named = await findNamed(scorecards, kinds);
      const revisions = active.map((revision, index) => named[index] ?? revision!);
      const found = await cache.get(revisions, (missing) => scorecards.findRevisions(missing));
      const byKind = new Map(kinds.map((kind, index) => [keyOf(kind), found[index]!]));
      return calls.map((call) => byKind.get(keyOf(call))!);
    },
  };
}

export type ActiveScorecards = ReturnType<typeof openActiveScorecards>;

async function findNamed(
  scorecards: Pick<ScorecardUse['scorecards'], 'findNewest'>,
  kinds: readonly Kind[],
): Promise<(RevisionId | undefined)[]> {
  const wanted = kinds.flatMap(({ firmUuid, scorecardUuid: uuid }) => (uuid === undefined ? [] : [{ firmUuid, uuid }]));
  if (wanted.length === 0) return [];
  const found = await scorecards.findNewest(wanted);
  return kinds.map(({ firmUuid, scorecardUuid }) =>
    found.find((each) => each.firmUuid === firmUuid && each.uuid === scorecardUuid?.toLowerCase()),
  );
}

function keyOf({ firmUuid, segmentType, scorecardUuid = '' }: Kind): string {
  return `${firmUuid}/${scorecardUuid}/${segmentType}`;
}

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
      const entry = this.#entries.get(revisionKey(revision));
      if (entry === undefined) missing.set(revisionKey(revision), revision);
      else found.set(revisionKey(revision), entry.scorecard);
    }
    if (missing.size > 0) {
      for (const fetched of await fetch([...missing.values()])) found.set(revisionKey(fetched), this.#add(fetched));
    }
    return revisions.map((revision) => {
      const scorecard = found.get(revisionKey(revision));
      if (scorecard === undefined) throw new Error(`There is no revision ${revisionKey(revision)}.`);
      this.#markUsed(revisionKey(revision));
      return scorecard;
    });
  }

  /** Returns the cached object instead when another caller has fetched the same revision in the meantime. */
  #add(scorecard: Scorecard): Scorecard {
    const key = revisionKey(scorecard);
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

function revisionKey({ uuid, revision }: RevisionId): string {
  return `${uuid}/${revision}`;
}
