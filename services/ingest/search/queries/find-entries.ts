import type { Database } from '@call-analysis/postgres';
import { type Place, type Question, READ_THROUGH } from '../call-query.ts';
import { conditionsOf, type Selection, type Way } from './resolve-filter.ts';
import { EntryQuery, orderOf, PLACE, run } from './entry-query.ts';

/** What it costs to begin reading at another key, in entries. */
const DESCENT = 30;
/** What an entry costs that has to be sorted. */
const SORTED = 1.5;
/** What a walk reads at least, and how many times what it expects, before it gives up. */
const WALKED = 5_000;
const PATIENCE = 4;
/** What is read of each key at least, before filters are suspected of ruling each other out. */
const READ_OF_EACH = 200;
/** What is read of each of many keys beyond its share. */
const SCATTER = 15;
/** The share of a firm's calls beyond which it is cheaper to look at what is left than to cut it down by an index. */
const BROAD = 0.3;

/** In the order of the sort, over what does not match, until enough is found. `limit` null: to the end. */
interface Walk {
  readonly is: 'walk';
  readonly limit: number | null;
}

/** The first ones of each key, which stand in the order of the sort, over so many of it that do not match. */
interface Merge {
  readonly is: 'merge';
  readonly way: Way;
  /** Null: to the end. */
  readonly ofEach: number | null;
}

/** All of a way, to be sorted. */
interface Gather {
  readonly is: 'gather';
  readonly way: Way;
}

/** What several ways lead to, to be sorted: where one filter rules out what another lets expect. */
interface Intersect {
  readonly is: 'intersect';
}

type Plan = Walk | Merge | Gather | Intersect;

/** The places of the calls that match, in the order of the sort. */
export async function findEntries(db: Database, question: Question, selection: Selection): Promise<Place[]> {
  for (const plan of plansOf(question, selection)) {
    const found = await read(db, question, selection, plan);
    if (found !== null) return found;
  }
  throw new Error('The last plan of a list always has an answer.');
}

/** Null when the plan gave up: what is asked for stands further on, or nowhere. */
async function read(db: Database, question: Question, selection: Selection, plan: Plan): Promise<Place[] | null> {
  const { sort, after, offset, limit } = question;
  const query = new EntryQuery(selection);
  const order = orderOf(sort, 'c');
  const page = `LIMIT ${query.value(limit, 'int')} OFFSET ${query.value(offset, 'int')}`;
  if (plan.is === 'walk') {
    const sources = walks(query, question, selection, plan);
    const matching = conditionsOf(query, selection, null);
    const where = matching.length === 0 ? '' : `WHERE ${matching.join(' AND ')}`;
    const text = `SELECT ${PLACE} FROM (${sources}) AS c ${where} ${page}`;
    const found = await run(db, text, query, { sorting: false });
    return found.length < limit && plan.limit !== null ? null : found;
  }
  if (plan.is === 'intersect') {
    const narrow = selection.ways.filter(({ size }) => size < selection.total * BROAD);
    const ways = (narrow.length === 0 ? selection.ways : narrow).map(
      (way) => `c.${way.column} = ANY(${query.value(way.keys, way.column === 'score' ? 'smallint[]' : 'int[]')})`,
    );
    const found = query.entries(...ways, ...conditionsOf(query, selection, null));
    const text = `SELECT ${PLACE} FROM (SELECT uuid, start_time, score FROM ${found} OFFSET 0) AS c
      WHERE ${query.behind(sort, after) ?? 'true'} ORDER BY ${order} ${page}`;
    return run(db, text, query, { sorting: true, bitmaps: true, indexes: false });
  }
  const keys = query.value(plan.way.keys, 'int[]');
  const behind = query.behind(sort, after);
  const matching = conditionsOf(query, selection, plan.way);
  if (plan.is === 'gather') {
    const found = query.entries(`c.${plan.way.column} = ANY(${keys})`, ...matching);
    // The offset keeps the sort out, and with it the index that would serve it.
    const text = `SELECT ${PLACE} FROM (SELECT uuid, start_time, score FROM ${found} OFFSET 0) AS c
      WHERE ${behind ?? 'true'} ORDER BY ${order} ${page}`;
    return run(db, text, query, { sorting: true });
  }
  const first = query.value(offset + limit, 'int');
  if (plan.ofEach === null) {
    const found = query.entries(`c.${plan.way.column} = each.key`, behind, ...matching);
    const text = `SELECT ${PLACE} FROM unnest(${keys}) AS each (key) CROSS JOIN LATERAL (
        SELECT c.uuid, c.start_time, c.score FROM ${found} ORDER BY ${order} LIMIT ${first}) AS c
      ORDER BY ${order} ${page}`;
    return run(db, text, query, { sorting: true });
  }
  const ofEach = query.value(plan.ofEach, 'int');
  const found = query.entries(`c.${plan.way.column} = each.key`, behind);
  // Where the reading of a key ended there may be more behind, so nothing that comes after it in the order is certain.
  const text = `SELECT ${PLACE}, is_uncertain AS "isUncertain" FROM (
      SELECT c.*, bool_or(is_end) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS is_uncertain
      FROM unnest(${keys}) AS each (key) CROSS JOIN LATERAL (
        SELECT c.uuid, c.start_time, c.score, c.is_end FROM (
          SELECT c.*, row_number() OVER (ORDER BY ${order}) = ${ofEach} AS is_end
          FROM (SELECT c.* FROM ${found} ORDER BY ${order} LIMIT ${ofEach}) AS c) AS c
        WHERE is_end OR (${matching.join(' AND ')}) ORDER BY ${order} LIMIT ${first}) AS c) AS c
    ORDER BY ${order} ${page}`;
  const merged = await run<Place & { isUncertain: boolean }>(db, text, query, { sorting: true });
  if (merged.some(({ isUncertain }) => isUncertain) || (merged.length === 0 && offset > 0)) return null;
  return merged.map(({ uuid, startTime, score }) => ({ uuid, startTime, score }));
}

/** Entries in the order of the sort, as many as are read through. */
function walks(query: EntryQuery, { sort, after }: Question, { started, scored }: Selection, { limit }: Walk): string {
  const readThrough = limit === null ? '' : `LIMIT ${limit}`;
  const walk = (order: string, ...conditions: (string | null)[]) =>
    `SELECT c.* FROM ${query.entries(...conditions)} ORDER BY ${order} ${readThrough}`;
  if (sort.by === 'start_time') {
    return walk(
      orderOf(sort, 'c'),
      query.behind(sort, after),
      started?.from ? `c.start_time >= ${query.value(started.from, 'timestamptz')}` : null,
      started?.to ? `c.start_time < ${query.value(started.to, 'timestamptz')}` : null,
    );
  }
  if (sort.by === 'created_at') return walk(orderOf(sort, 'c'), query.behind(sort, after));
  const within =
    scored === null
      ? null
      : `c.score BETWEEN ${query.value(scored.low, 'smallint')} AND ${query.value(scored.high, 'smallint')}`;
  if (sort.isDescending) return walk(orderOf(sort, 'c'), query.behind(sort, after), within);
  // In the index those without a score come first; here they come last, by themselves.
  const ascending = 'c.score, c.uuid';
  const from = (place: Pick<Place, 'score' | 'uuid'>) =>
    `(c.score, c.uuid) > (${query.value(place.score, 'smallint')}, ${query.value(place.uuid, 'uuid')})`;
  const unscored = (place: Pick<Place, 'score' | 'uuid'>) => walk(ascending, 'c.score = -1', from(place));
  if (after !== null && after.score < 0) return unscored(after);
  const withScore = walk(ascending, from(after ?? { score: 0, uuid: BEFORE_ALL }), within);
  return scored === null ? `(${withScore}) UNION ALL (${unscored({ score: -1, uuid: BEFORE_ALL })})` : withScore;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** What to try, and what to do when that gave up; the last one never does. */
function plansOf({ sort, offset, limit }: Question, selection: Selection): Plan[] {
  const { total, ways, started, scored, span } = selection;
  const wanted = offset + limit;
  const expected = ways.reduce((calls, { size }) => (calls * size) / Math.max(total, 1), total);
  // A range of what is sorted by is not read through; the index begins and ends with it.
  const bound = sort.by === 'start_time' ? started?.way : sort.by === 'score' ? scored?.way : undefined;
  const others = ways.filter((way) => way !== bound);
  if (others.length === 0) return [{ is: 'walk', limit: null }];
  const length = (span === null ? bound : started?.way)?.size ?? total;
  const walking = Math.min(length, (wanted * length) / Math.max(expected, 1));
  const isMerged = sort.by === 'created_at';
  // What is read of a key until enough of it matches.
  const ofEach = ({ size }: Way) => Math.min(size, (wanted * size) / Math.max(expected, 1));
  const costOf = (way: Way) =>
    way.keys.length * DESCENT + (isMerged ? Math.min(way.size, way.keys.length * ofEach(way)) : way.size * SORTED);
  const cheapestFirst = others.toSorted((a, b) => costOf(a) - costOf(b));
  const [cheapest] = cheapestFirst as [Way];
  const collect: Plan[] = isMerged
    ? mergesOf(cheapestFirst, ofEach, ways.length > 1)
    : [{ is: 'gather', way: cheapest }];
  if (costOf(cheapest) <= walking) return collect;
  return [{ is: 'walk', limit: Math.round(Math.max(WALKED, PATIENCE * walking)) }, ...collect];
}

/**
 * Where filters hang together, the first calls of one key may all be ruled out by the other filter, but hardly those of the
 * other key by the first; so each way is tried before all of what matches is looked up.
 */
function mergesOf(ways: readonly Way[], ofEach: (way: Way) => number, isFiltered: boolean): Plan[] {
  const plans: Plan[] = [];
  for (const way of ways) {
    const { length } = way.keys;
    const enough = Math.round(Math.max(READ_OF_EACH, PATIENCE * ofEach(way)));
    // Among many keys what is wanted stands scattered, unless they follow each other as days do.
    for (const patience of length === 1 ? [enough] : [Math.ceil(enough / length) + SCATTER, enough]) {
      if (!isFiltered || way.size <= READ_THROUGH || patience * length >= way.size)
        return [...plans, { is: 'merge', way, ofEach: null }];
      if (plans.length === 0 || patience * length <= READ_THROUGH) plans.push({ is: 'merge', way, ofEach: patience });
    }
  }
  return [...plans, { is: 'intersect' }];
}
