import type { CallQuery } from '../call-query.ts';
import { MAX_READS } from './limits.ts';
import { type Postings, type ResolvedFilter, TAGS } from './resolve-filter.ts';

/** The cost of descending to another key of an index, in entries read. */
const DESCENT_COST = 30;
/** The cost of an entry that is sorted, in entries read. */
const SORT_COST = 1.5;
/** A scan reads at least this many entries before it gives up. */
const MIN_SCAN = 5_000;
/** A plan reads this many times the expected number of entries before it gives up. */
const PATIENCE = 4;
/** A merge reads at least this many entries before it gives up. */
const MIN_MERGE = 200;
/** With many keys, matches are unevenly distributed, so more entries of each are read, by this factor. */
const SCATTER = 15;

/** Reads the index of the sort in its order, and skips entries that do not match. `limit` null: to the end. */
export interface Scan {
  readonly kind: 'scan';
  readonly limit: number | null;
}

/** Reads the first entries of each posting list, which are in the order of the sort, and merges them. */
export interface Merge {
  readonly kind: 'merge';
  readonly postings: Postings;
  /** The most entries read of each list; null: to the end. */
  readonly perKey: number | null;
}

/** Reads posting lists to the end and sorts what matches. */
export interface Sorted {
  readonly kind: 'sort';
  readonly postings: Postings;
}

/** Intersects several posting lists as bitmaps and sorts the result. Fast where one filter excludes most of another. */
export interface Intersect {
  readonly kind: 'intersect';
}

export type Plan = Scan | Merge | Sorted | Intersect;

/** The plans to try in turn. The last one never gives up. */
export function plansFor({ sort, offset, limit }: CallQuery, filter: ResolvedFilter): Plan[] {
  const { total, postings, started, scored, range, checks, checkedShare } = filter;
  const wanted = offset + limit;
  const expected = postings.reduce((calls, { size }) => (calls * size) / Math.max(total, 1), total * checkedShare);
  // A condition on the sort column limits the scan instead of filtering it.
  const bound = sort.by === 'start_time' ? started?.postings : sort.by === 'score' ? scored?.postings : undefined;
  const others = postings.filter((each) => each !== bound);
  if (others.length === 0) return [{ kind: 'scan', limit: null }];
  const length = (range === null ? bound : started?.postings)?.size ?? total;
  const scanned = Math.min(length, (wanted * length) / Math.max(expected, 1));
  const isMerged = sort.by === 'created_at';
  // Entries of a key that are read until enough of them match.
  const perKey = ({ size }: Postings) => Math.min(size, (wanted * size) / Math.max(expected, 1));
  const costOf = (each: Postings) =>
    each.keys.length * DESCENT_COST +
    // The lists of tags have no order, so they are read to the end.
    (isMerged && each.column !== TAGS ? Math.min(each.size, each.keys.length * perKey(each)) : each.size * SORT_COST);
  const cheapestFirst = others.toSorted((a, b) => costOf(a) - costOf(b));
  const [cheapest] = cheapestFirst as [Postings];
  // For the same reason they can only be intersected.
  const lists = cheapestFirst.filter(({ column }) => column !== TAGS);
  const isFiltered = postings.length > 1 || checks.length > 0;
  const collect: Plan[] =
    cheapest.column === TAGS
      ? [{ kind: 'intersect' }]
      : isMerged
        ? mergesOf(lists, perKey, isFiltered)
        : [{ kind: 'sort', postings: cheapest }];
  if (costOf(cheapest) <= scanned) return collect;
  return [{ kind: 'scan', limit: Math.round(Math.max(MIN_SCAN, PATIENCE * scanned)) }, ...collect];
}

/**
 * Where two filters correlate, the other filter may exclude the first entries of one list, but hardly those of both.
 * So a merge of each filter's lists is tried before they are intersected.
 */
function mergesOf(lists: readonly Postings[], perKey: (list: Postings) => number, isFiltered: boolean): Plan[] {
  const plans: Plan[] = [];
  for (const postings of lists) {
    const { length } = postings.keys;
    const enough = Math.round(Math.max(MIN_MERGE, PATIENCE * perKey(postings)));
    // Among many keys the matches are spread over all of them, unless the keys follow each other as days do.
    for (const reads of length === 1 ? [enough] : [Math.ceil(enough / length) + SCATTER, enough]) {
      if (!isFiltered || postings.size <= MAX_READS || reads * length >= postings.size)
        return [...plans, { kind: 'merge', postings, perKey: null }];
      if (plans.length === 0 || reads * length <= MAX_READS) plans.push({ kind: 'merge', postings, perKey: reads });
    }
  }
  return [...plans, { kind: 'intersect' }];
}
