import type { Database } from '@call-analysis/postgres';
import {
  dayOf,
  DIRECTIONS,
  type Facet,
  type Kind,
  markOf,
  OUTCOMES,
  pair,
  readFacets,
  readFacetsBetween,
  SOURCES,
  STATUSES,
} from '../facets.ts';
import { type CallFilter, scoreRange } from '../call-query.ts';
import { EntryQuery, onlyChecked, run, type Span } from './entry-query.ts';

/** A way into the index: the entries under these keys of a column, each key's in the order of uuids. */
export interface Way {
  readonly column: string;
  readonly keys: readonly number[];
  /** How many entries that are. */
  readonly size: number;
}

/** A filter in terms of the index. */
export interface Selection {
  readonly firm: number;
  /** Calls of the firm. */
  readonly total: number;
  /** One for each condition, save that on words. */
  readonly ways: readonly Way[];
  readonly started: { readonly from: Date | null; readonly to: Date | null; readonly way: Way } | null;
  readonly scored: { readonly low: number; readonly high: number; readonly way: Way } | null;
  /**
   * Calls come soon after they were held, so those of a few days stand close together in the order of uuids: where days
   * are asked for with something else, all that can match stands here.
   */
  readonly span: Span | null;
}

const FIRST_DAY = '0001-01-01';
const LAST_DAY = '9999-12-31';
/** Of more keys it takes too long to find where they begin and end. */
const SPANNED = 100;

/** Null when no call can match. */
export async function select(db: Database, firmUuid: string, filter: CallFilter): Promise<Selection | null> {
  const named = namedFacets(filter);
  const score = scoreRange(filter);
  const { startedFrom: from, startedTo: to } = filter;
  const isDated = from !== null || to !== null;
  const [facets, days, marks] = await Promise.all([
    readFacets(db, firmUuid, new Map([['all', ['']] as const, ...named])),
    isDated
      ? readFacetsBetween(
          db,
          firmUuid,
          'day',
          from === null ? FIRST_DAY : dayOf(from),
          to === null ? LAST_DAY : dayOf(new Date(to.getTime() - 1)),
        )
      : [],
    score === null ? [] : readFacetsBetween(db, firmUuid, 'mark', markOf(score.low), markOf(score.high)),
  ]);
  const all = facets.find(({ kind }) => kind === 'all');
  if (all === undefined) return null;
  const ways = [...named.keys()].map((kind) =>
    wayOf(
      kind,
      facets.filter((facet) => facet.kind === kind),
    ),
  );
  const started = isDated ? { from, to, way: wayOf('day', days) } : null;
  const scored =
    score === null
      ? null
      : { ...score, way: { ...wayOf('mark', marks), column: 'score', keys: marks.map(({ value }) => Number(value)) } };
  if (started !== null) ways.push(started.way);
  if (scored !== null) ways.push(scored.way);
  if (ways.some(({ keys }) => keys.length === 0)) return null;
  const span = started !== null && ways.length > 1 ? await spanOf(db, all.id, started.way) : null;
  return { firm: all.id, total: all.calls, ways, started, scored, span };
}

/** Where entries of the way are, or all of the firm's; null when there are none, or too many keys to tell. */
export async function spanOf(db: Database, firm: number, way: Way | null): Promise<Span | null> {
  if (way !== null && way.keys.length > SPANNED) return null;
  const query = new EntryQuery({ firm, span: null });
  const keys = way === null ? '(VALUES (0))' : `unnest(${query.value(way.keys, 'int[]')})`;
  const entries = query.entries(way && `c.${way.column} = each.key`);
  const outermost = (order: string) =>
    `(SELECT c.uuid FROM ${keys} AS each (key) CROSS JOIN LATERAL (
        SELECT c.uuid FROM ${entries} ORDER BY c.uuid ${order} LIMIT 1) AS c
      ORDER BY c.uuid ${order} LIMIT 1)`;
  const text = `SELECT ${outermost('ASC')} AS first, ${outermost('DESC')} AS last`;
  const [found] = await run<Span | { first: null }>(db, text, query, { sorting: true });
  return found === undefined || found.first === null ? null : found;
}

function wayOf(column: string, facets: readonly Facet[]): Way {
  return {
    column,
    keys: facets.map(({ id }) => id),
    size: facets.reduce((sum, { calls }) => sum + calls, 0),
  };
}

function namedFacets(filter: CallFilter): Map<Kind, readonly string[]> {
  const named = new Map<Kind, readonly string[]>();
  const one = (kind: Kind, value: string | null) => value !== null && named.set(kind, [value]);
  if (filter.status.length > 0 || filter.outcome.length > 0) {
    const outcomes = filter.outcome.length > 0 ? filter.outcome : [null, ...OUTCOMES];
    named.set('state', pairs(filter.status.length > 0 ? filter.status : STATUSES, outcomes));
  }
  if (filter.source !== null || filter.direction.length > 0) {
    const directions = filter.direction.length > 0 ? filter.direction : [null, ...DIRECTIONS];
    named.set('origin', pairs(filter.source === null ? SOURCES : [filter.source], directions));
  }
  if (filter.segmentType.length > 0) named.set('segment', [...new Set(filter.segmentType)]);
  one('operator', filter.operatorName);
  one('team', filter.operatorGroupName);
  one('campaign', filter.campaign);
  one('batch', filter.batch);
  return named;
}

function pairs(ones: readonly string[], others: readonly (string | null)[]): string[] {
  return [...new Set(ones.flatMap((one) => others.map((other) => pair(one, other))))];
}

/** All conditions of the selection, but for `served`, whose keys the index is read by. */
export function conditionsOf(query: EntryQuery, { ways, started, scored }: Selection, served: Way | null): string[] {
  const conditions: string[] = [];
  for (const way of ways) {
    // A day may be in the range in part; of a range of scores every score is.
    if (way === served || way === started?.way || way === scored?.way) continue;
    conditions.push(onlyChecked(`c.${way.column} = ANY(${query.value(way.keys, 'int[]')})`));
  }
  if (started !== null && started.from !== null) {
    conditions.push(onlyChecked(`c.start_time >= ${query.value(started.from, 'timestamptz')}`));
  }
  if (started !== null && started.to !== null) {
    conditions.push(onlyChecked(`c.start_time < ${query.value(started.to, 'timestamptz')}`));
  }
  if (scored !== null && served !== scored.way) {
    const [low, high] = [query.value(scored.low, 'smallint'), query.value(scored.high, 'smallint')];
    conditions.push(onlyChecked(`c.score BETWEEN ${low} AND ${high}`));
  }
  return conditions;
}
