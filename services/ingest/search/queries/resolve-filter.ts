import type { Database } from '@call-analysis/postgres';
import { type CallFilter, milliseconds, scoreRange } from '../call-query.ts';
import {
  dayValue,
  DIRECTIONS,
  type Facet,
  type FacetKind,
  lengthStep,
  lengthValue,
  OUTCOMES,
  pairValue,
  phoneTag,
  readFacetRange,
  readFacets,
  readFolded,
  scoreValue,
  SOURCES,
  STATUSES,
  TRAITS,
} from '../facets.ts';
import { EntryQuery, notIndexed, run, type UuidRange } from './entry-query.ts';

/**
 * Posting lists of one column: for each key, the entries that have it, in the order of uuids. Those of column `tags`
 * have no order: an entry has several tags.
 */
export interface Postings {
  readonly column: string;
  readonly keys: readonly number[];
  /** Entries in all lists together, from the facet counts. */
  readonly size: number;
}

/** A filter, resolved to ids of facets and their posting lists. Words are not part of it. */
export interface ResolvedFilter {
  readonly firm: number;
  /** Calls of the firm. */
  readonly total: number;
  /** One element for each condition. */
  readonly postings: readonly Postings[];
  readonly started: { readonly from: Date | null; readonly to: Date | null; readonly postings: Postings } | null;
  readonly scored: { readonly low: number; readonly high: number; readonly postings: Postings } | null;
  /**
   * With a condition on the start time and another one: the range of uuids that holds every match. Calls are created
   * soon after they were held, so the calls of a few days are close together in the order of uuids.
   */
  readonly range: UuidRange | null;
  /** Conditions that no posting list serves, and the share of calls that is expected to meet them. */
  readonly checks: readonly ((query: EntryQuery) => string)[];
  readonly checkedShare: number;
}

/** The column whose posting lists are those of a GIN index. */
export const TAGS = 'tags';

const FIRST_DAY = '0001-01-01';
const LAST_DAY = '9999-12-31';
/** With more keys it takes too long to find the first and the last entry. */
const MAX_RANGE_KEYS = 100;

/** Null when no call can match. */
export async function resolveFilter(
  db: Database,
  firmUuid: string,
  filter: CallFilter,
): Promise<ResolvedFilter | null> {
  const values = facetValues(filter);
  const score = scoreRange(filter);
  const { startedFrom: from, startedTo: to } = filter;
  const isDated = from !== null || to !== null;
  const traits = traitsOf(filter);
  const tagged = taggedValues(filter);
  const [facets, traitFacets, tagFacets, operators, teams, lengths, days, scores] = await Promise.all([
    readFacets(db, firmUuid, new Map([['all', ['']] as const, ...values])),
    readFacets(db, firmUuid, new Map([['trait', traits.map(({ trait }) => trait)] as const])),
    readFacets(db, firmUuid, new Map(tagged.map(({ kind, value }) => [kind, [value]] as const))),
    filter.operatorName === null ? null : readFolded(db, firmUuid, 'operator', filter.operatorName),
    filter.operatorGroupName === null ? null : readFolded(db, firmUuid, 'team', filter.operatorGroupName),
    readLengths(db, firmUuid, filter),
    isDated
      ? readFacetRange(
          db,
          firmUuid,
          'day',
          from === null ? FIRST_DAY : dayValue(from),
          to === null ? LAST_DAY : dayValue(new Date(to.getTime() - 1)),
        )
      : [],
    score === null ? [] : readFacetRange(db, firmUuid, 'mark', scoreValue(score.low), scoreValue(score.high)),
  ]);
  const all = facets.find(({ kind }) => kind === 'all');
  if (all === undefined) return null;
  const postings = [...values.keys()].map((kind) =>
    postingsOf(
      kind,
      facets.filter((facet) => facet.kind === kind),
    ),
  );
  if (operators !== null) postings.push(postingsOf('operator', operators));
  if (teams !== null) postings.push(postingsOf('team', teams));
  for (const { kind } of tagged) {
    postings.push(
      postingsOf(
        TAGS,
        tagFacets.filter((facet) => facet.kind === kind),
      ),
    );
  }
  const traitCalls = (trait: string) => traitFacets.find(({ value }) => value === trait);
  for (const { trait, wanted } of traits) {
    if (wanted)
      postings.push(
        postingsOf(
          TAGS,
          [traitCalls(trait)].filter((facet) => facet !== undefined),
        ),
      );
  }
  if (lengths !== null) postings.push(postingsOf(TAGS, lengths));
  if (filter.clientPhoneNumber !== null)
    postings.push({ column: TAGS, keys: [phoneTag(firmUuid, filter.clientPhoneNumber)], size: CALLS_OF_A_CLIENT });
  const without = traits.filter(({ wanted }) => !wanted).map(({ trait }) => traitCalls(trait));
  const started = isDated ? { from, to, postings: postingsOf('day', days) } : null;
  const scored =
    score === null
      ? null
      : {
          ...score,
          postings: { ...postingsOf('mark', scores), column: 'score', keys: scores.map(({ value }) => Number(value)) },
        };
  if (started !== null) postings.push(started.postings);
  if (scored !== null) postings.push(scored.postings);
  if (postings.some(({ keys }) => keys.length === 0)) return null;
  const range = started !== null && postings.length > 1 ? await uuidRange(db, all.id, started.postings) : null;
  return {
    firm: all.id,
    total: all.calls,
    postings,
    started,
    scored,
    range,
    checks: checksOf(
      filter,
      without.flatMap((facet) => (facet === undefined ? [] : [facet.id])),
    ),
    checkedShare: without.reduce((share, facet) => share * (1 - (facet?.calls ?? 0) / Math.max(all.calls, 1)), 1),
  };
}

/** An estimate of how many calls a client has. The posting list itself is read to its end. */
const CALLS_OF_A_CLIENT = 10;
const LONGEST = '999';

function traitsOf({ needsReview, reviewed, autoFailed }: CallFilter): { trait: string; wanted: boolean }[] {
  const given = [
    { trait: TRAITS.needsReview, wanted: needsReview },
    { trait: TRAITS.reviewed, wanted: reviewed },
    { trait: TRAITS.autoFailed, wanted: autoFailed },
  ];
  return given.flatMap(({ trait, wanted }) => (wanted === null ? [] : [{ trait, wanted }]));
}

function taggedValues(filter: CallFilter): { kind: FacetKind; value: string }[] {
  const { language, topic, resolution, operatorId, lostPoints } = filter;
  const given: [FacetKind, string | null][] = [
    ['language', language],
    ['topic', topic],
    ['resolution', resolution],
    ['number', operatorId],
    ['lost', lostPoints],
  ];
  return given.flatMap(([kind, value]) => (value === null ? [] : [{ kind, value }]));
}

/** The steps between the shortest and the longest matching duration; null when the filter matches any. */
async function readLengths(db: Database, firmUuid: string, filter: CallFilter): Promise<Facet[] | null> {
  const { durationMin: min, durationMax: max } = filter;
  if (min === null && max === null) return null;
  // A duration is compared after rounding, which may take it to the step before or after.
  const first = min === null ? 0 : Math.max(0, lengthStep(min - 0.001));
  const last = max === null ? LONGEST : lengthValue(lengthStep(max + 0.001));
  return readFacetRange(db, firmUuid, 'length', lengthValue(first), last);
}

function checksOf({ durationMin, durationMax }: CallFilter, withoutTags: readonly number[]) {
  const checks: ((query: EntryQuery) => string)[] = [];
  if (durationMin !== null)
    checks.push((query) => `c.duration_ms >= ${query.value(milliseconds(durationMin), 'bigint')}`);
  if (durationMax !== null)
    checks.push((query) => `c.duration_ms <= ${query.value(milliseconds(durationMax), 'bigint')}`);
  if (withoutTags.length > 0)
    checks.push((query) => `coalesce(c.tags && ${query.value(withoutTags, 'bigint[]')}, false) IS NOT TRUE`);
  return checks;
}

/** The condition that an entry is in one of the posting lists. */
export function isIn(query: EntryQuery, { column, keys }: Postings): string {
  if (column === TAGS) return `c.tags && ${query.value(keys, 'bigint[]')}`;
  return `c.${column} = ANY(${query.value(keys, column === 'score' ? 'smallint[]' : 'int[]')})`;
}

/**
 * The range of uuids of the postings, or of all entries of the firm. Null when there are none, or too many keys to find
 * out.
 */
export async function uuidRange(db: Database, firm: number, postings: Postings | null): Promise<UuidRange | null> {
  if (postings !== null && postings.keys.length > MAX_RANGE_KEYS) return null;
  const query = new EntryQuery({ firm, range: null });
  const keys = postings === null ? '(VALUES (0))' : `unnest(${query.value(postings.keys, 'int[]')})`;
  const entries = query.entries(postings && `c.${postings.column} = each.key`);
  const outermost = (order: string) =>
    `(SELECT c.uuid FROM ${keys} AS each (key) CROSS JOIN LATERAL (
        SELECT c.uuid FROM ${entries} ORDER BY c.uuid ${order} LIMIT 1) AS c
      ORDER BY c.uuid ${order} LIMIT 1)`;
  const text = `SELECT ${outermost('ASC')} AS first, ${outermost('DESC')} AS last`;
  const [found] = await run<UuidRange | { first: null }>(db, text, query, { sorting: true });
  return found === undefined || found.first === null ? null : found;
}

function postingsOf(column: string, facets: readonly Facet[]): Postings {
  return {
    column,
    keys: facets.map(({ id }) => id),
    size: facets.reduce((sum, { calls }) => sum + calls, 0),
  };
}

/** The facet values that the filter accepts, for each kind that it restricts. */
function facetValues(filter: CallFilter): Map<FacetKind, readonly string[]> {
  const values = new Map<FacetKind, readonly string[]>();
  const one = (kind: FacetKind, value: string | null) => value !== null && values.set(kind, [value]);
  if (filter.status.length > 0 || filter.outcome.length > 0) {
    const outcomes = filter.outcome.length > 0 ? filter.outcome : [null, ...OUTCOMES];
    values.set('state', pairs(filter.status.length > 0 ? filter.status : STATUSES, outcomes));
  }
  if (filter.source !== null || filter.direction.length > 0) {
    const directions = filter.direction.length > 0 ? filter.direction : [null, ...DIRECTIONS];
    values.set('origin', pairs(filter.source === null ? SOURCES : [filter.source], directions));
  }
  if (filter.segmentType.length > 0) values.set('segment', [...new Set(filter.segmentType)]);
  one('campaign', filter.campaign);
  one('batch', filter.batch);
  return values;
}

function pairs(ones: readonly string[], others: readonly (string | null)[]): string[] {
  return [...new Set(ones.flatMap((one) => others.map((other) => pairValue(one, other))))];
}

/** All conditions of the filter except `served`, the postings that the query reads. */
export function conditionsOf(
  query: EntryQuery,
  { postings, started, scored, checks }: ResolvedFilter,
  served: Postings | null,
): string[] {
  const conditions: string[] = [];
  for (const each of postings) {
    // The start time and the score are compared by their columns below: the first and last day match only in part.
    if (each === served || each === started?.postings || each === scored?.postings) continue;
    conditions.push(notIndexed(isIn(query, each)));
  }
  if (started !== null && started.from !== null) {
    conditions.push(notIndexed(`c.start_time >= ${query.value(started.from, 'timestamptz')}`));
  }
  if (started !== null && started.to !== null) {
    conditions.push(notIndexed(`c.start_time < ${query.value(started.to, 'timestamptz')}`));
  }
  if (scored !== null && served !== scored.postings) {
    const [low, high] = [query.value(scored.low, 'smallint'), query.value(scored.high, 'smallint')];
    conditions.push(notIndexed(`c.score BETWEEN ${low} AND ${high}`));
  }
  for (const check of checks) conditions.push(notIndexed(check(query)));
  return conditions;
}
