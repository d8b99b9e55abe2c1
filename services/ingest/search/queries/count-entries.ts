import type { Database } from '@call-analysis/postgres';
import type { Count } from '../call-query.ts';
import { EntryQuery, run, type UuidRange } from './entry-query.ts';
import { CERTAIN_FACTOR, EXACT_COUNT, MAX_READS } from './limits.ts';
import { conditionsOf, isIn, type Postings, type ResolvedFilter, TAGS, uuidRange } from './resolve-filter.ts';

/** Entries of the first, small sample. */
const SAMPLE = 5_000;
/** Calls that came together may be alike, so samples are taken at this many positions. */
const SAMPLE_POSITIONS = 16;

/**
 * How many calls match. The count is exact where a facet count gives it or few entries have to be read, and otherwise
 * an estimate from a sample.
 */
export async function countEntries(db: Database, filter: ResolvedFilter): Promise<Count> {
  const { postings, total, range, started, checks } = filter;
  if (checks.length === 0 && postings.length === 0) return { count: total, isEstimate: false };
  const all: Postings = { column: 'firm', keys: [filter.firm], size: total };
  const smallest = postings.reduce((best, each) => (each.size < best.size ? each : best), all);
  const { size } = smallest;
  if (checks.length === 0 && postings.length === 1 && hasWholeDays(filter) && !isUncounted(smallest))
    return { count: size, isEstimate: false };
  if (smallest.column === TAGS && size <= MAX_TAG_READS) return countTagged(db, filter, smallest);
  // The lists of tags have no order, and cannot be read in part.
  const listed = postings.filter(({ column }) => column !== TAGS);
  const shortest = listed.reduce((best, each) => (each.size < best.size ? each : best), all);
  if (shortest.size <= MAX_READS || (range !== null && shortest !== started?.postings)) {
    const { read, matched } = await readAll(db, filter, shortest);
    if (read <= MAX_READS) return { count: matched, isEstimate: false };
  }
  const population = await populationOf(db, filter, shortest);
  const rough = await estimate(db, filter, population, SAMPLE);
  const count = rough > CERTAIN_FACTOR * EXACT_COUNT ? rough : await estimate(db, filter, population, MAX_READS);
  return { count, isEstimate: true };
}

/** Phone numbers are not counted. */
function isUncounted({ column, keys }: Postings): boolean {
  return column === TAGS && keys.some((key) => key < 0);
}

/** The most entries of tags that a count reads: they are read as a bitmap, several times as fast as one by one. */
const MAX_TAG_READS = 30_000;

async function countTagged(db: Database, filter: ResolvedFilter, postings: Postings): Promise<Count> {
  const query = new EntryQuery(filter);
  const entries = query.tagged(isIn(query, postings), ...conditionsOf(query, filter, postings));
  const [row] = await run<{ count: number }>(db, `SELECT count(*)::int AS count FROM ${entries}`, query, {
    sorting: false,
    bitmaps: true,
    indexes: false,
  });
  return { count: row!.count, isEstimate: false };
}

interface Read {
  readonly read: number;
  readonly matched: number;
}

/** Reads the entries of the postings until they are more than a count may cost. */
async function readAll(db: Database, filter: ResolvedFilter, postings: Postings): Promise<Read> {
  const query = new EntryQuery(filter);
  const most = query.value(MAX_READS + 1, 'int');
  const from = `unnest(${query.value(postings.keys, 'int[]')}) AS each (key) CROSS JOIN LATERAL (
    SELECT c.* FROM ${query.entries(`c.${postings.column} = each.key`)} ORDER BY c.uuid DESC LIMIT ${most}) AS c`;
  return countMatches(db, query, filter, postings, `SELECT c.* FROM ${from} LIMIT ${most}`);
}

/** The entries that a sample is taken from: those of the postings within the filter's range of uuids. */
interface Population {
  readonly postings: Postings;
  /** An approximation that assumes that calls come evenly over time. */
  readonly size: number;
  /** Uuids at which samples begin. */
  readonly positions: readonly string[];
}

async function populationOf(db: Database, { firm, range }: ResolvedFilter, postings: Postings): Promise<Population> {
  const own = (await uuidRange(db, firm, postings)) ?? (await uuidRange(db, firm, null));
  const [first, last] = boundsOf(own ?? EMPTY);
  const [from, to] = range === null ? [first, last] : boundsOf(range);
  const begin = from > first ? from : first;
  const length = (to < last ? to : last) - begin + 1n;
  const share = length > 0n ? Number((length * 1_000_000n) / (last - first + 1n)) / 1_000_000 : 0;
  const count = Math.max(1, Math.floor(SAMPLE_POSITIONS / postings.keys.length));
  return {
    postings,
    size: postings.size * share,
    positions: Array.from({ length: count }, (_, index) => hexOf(begin + (length * BigInt(index)) / BigInt(count))),
  };
}

const EMPTY: UuidRange = { first: '0', last: '0' };

function boundsOf({ first, last }: UuidRange): [bigint, bigint] {
  return [numberOf(first), numberOf(last)];
}

function numberOf(uuid: string): bigint {
  return BigInt(`0x${uuid.replaceAll('-', '')}`);
}

function hexOf(uuid: bigint): string {
  return uuid.toString(16).padStart(32, '0');
}

/** Scales the share of matches in a sample of about `entries` entries up to the population. */
async function estimate(
  db: Database,
  filter: ResolvedFilter,
  { postings, size, positions }: Population,
  entries: number,
): Promise<number> {
  const query = new EntryQuery(filter);
  const perPosition = query.value(Math.ceil(entries / postings.keys.length / positions.length), 'int');
  const sample = `SELECT c.* FROM unnest(${query.value(postings.keys, 'int[]')}) AS each (key)
    CROSS JOIN unnest(${query.value(positions, 'uuid[]')}) AS position (uuid) CROSS JOIN LATERAL (
      SELECT c.* FROM ${query.entries(`c.${postings.column} = each.key`, 'c.uuid >= position.uuid')} ORDER BY c.uuid LIMIT ${perPosition}) AS c`;
  const { read, matched } = await countMatches(db, query, filter, postings, sample);
  return Math.round((matched / Math.max(read, 1)) * size);
}

async function countMatches(
  db: Database,
  query: EntryQuery,
  filter: ResolvedFilter,
  postings: Postings,
  entries: string,
): Promise<Read> {
  const matching = conditionsOf(query, filter, postings);
  const text = `SELECT count(*)::int AS read, (count(*) FILTER (WHERE ${['true', ...matching].join(' AND ')}))::int AS matched
    FROM (${entries}) AS c`;
  const [row] = await run<Read>(db, text, query, { sorting: true });
  return row!;
}

/** Whether the facet counts of days are exact for the filter's start times. */
function hasWholeDays({ started }: ResolvedFilter): boolean {
  const isMidnight = (time: Date | null) => time === null || time.getTime() % 86_400_000 === 0;
  return started === null || (isMidnight(started.from) && isMidnight(started.to));
}
