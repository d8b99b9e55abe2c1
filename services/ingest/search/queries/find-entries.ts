import type { Database } from '@call-analysis/postgres';
import type { CallQuery, Position } from '../call-query.ts';
import { EntryQuery, orderBy, POSITION_COLUMNS, run } from './entry-query.ts';
import { type Merge, type Plan, plansFor, type Scan, type Sorted } from './plans.ts';
import { conditionsOf, isIn, type Postings, type ResolvedFilter, TAGS } from './resolve-filter.ts';

/**
 * A condition that matches a larger share of the firm's calls is checked on each entry, because reading its posting
 * list would cost more.
 */
const BROAD_SHARE = 0.3;

/** The positions of the matching calls, in the order of the sort. */
export async function findEntries(db: Database, query: CallQuery, filter: ResolvedFilter): Promise<Position[]> {
  for (const plan of plansFor(query, filter)) {
    const found = await execute(db, query, filter, plan);
    if (found !== null) return found;
  }
  throw new Error('The last plan of a listing always has a result.');
}

/** Whether the entry of one call matches. */
export async function matchesEntry(db: Database, filter: ResolvedFilter, callUuid: string): Promise<boolean> {
  const sql = new EntryQuery(filter);
  const found = sql.entries(`c.uuid = ${sql.value(callUuid, 'uuid')}`, ...conditionsOf(sql, filter, null));
  return (await run(db, `SELECT 1 FROM ${found}`, sql, { sorting: false })).length > 0;
}

/** How many of these calls have an entry that matches. */
export async function matchingEntries(
  db: Database,
  filter: ResolvedFilter,
  callUuids: readonly string[],
): Promise<number> {
  const sql = new EntryQuery(filter);
  const found = sql.entries(`c.uuid = ANY(${sql.value(callUuids, 'uuid[]')})`, ...conditionsOf(sql, filter, null));
  const [row] = await run<{ count: number }>(db, `SELECT count(*)::int AS count FROM ${found}`, sql, {
    sorting: false,
  });
  return row!.count;
}

/** Null when the plan gave up: the matches are further on, or there are none. */
async function execute(db: Database, query: CallQuery, filter: ResolvedFilter, plan: Plan): Promise<Position[] | null> {
  switch (plan.kind) {
    case 'scan':
      return scan(db, query, filter, plan);
    case 'merge':
      return merge(db, query, filter, plan);
    case 'sort':
      return sortMatches(db, query, filter, plan);
    case 'intersect':
      return intersect(db, query, filter);
  }
}

async function scan(db: Database, query: CallQuery, filter: ResolvedFilter, plan: Scan): Promise<Position[] | null> {
  const sql = new EntryQuery(filter);
  const page = pageOf(sql, query);
  const source = scanned(sql, query, filter, plan);
  const matching = conditionsOf(sql, filter, null);
  const where = matching.length === 0 ? '' : `WHERE ${matching.join(' AND ')}`;
  const text = `SELECT ${POSITION_COLUMNS} FROM (${source}) AS c ${where} ${page}`;
  const found = await run(db, text, sql, { sorting: false });
  return found.length < query.limit && plan.limit !== null ? null : found;
}

/** The entries in the order of the sort, as many as the plan reads. */
function scanned(
  sql: EntryQuery,
  { sort, after }: CallQuery,
  { started, scored }: ResolvedFilter,
  { limit }: Scan,
): string {
  const limited = limit === null ? '' : `LIMIT ${limit}`;
  const inOrder = (order: string, ...conditions: (string | null)[]) =>
    `SELECT c.* FROM ${sql.entries(...conditions)} ORDER BY ${order} ${limited}`;
  if (sort.by === 'start_time') {
    return inOrder(
      orderBy(sort, 'c'),
      sql.after(sort, after),
      started?.from ? `c.start_time >= ${sql.value(started.from, 'timestamptz')}` : null,
      started?.to ? `c.start_time < ${sql.value(started.to, 'timestamptz')}` : null,
    );
  }
  if (sort.by === 'created_at') return inOrder(orderBy(sort, 'c'), sql.after(sort, after));
  const within =
    scored === null
      ? null
      : `c.score BETWEEN ${sql.value(scored.low, 'smallint')} AND ${sql.value(scored.high, 'smallint')}`;
  if (sort.isDescending) return inOrder(orderBy(sort, 'c'), sql.after(sort, after), within);
  // In the index, entries without a score come first. In the listing they come last, so they are read separately.
  const ascending = 'c.score, c.uuid';
  const from = (position: Pick<Position, 'score' | 'uuid'>) =>
    `(c.score, c.uuid) > (${sql.value(position.score, 'smallint')}, ${sql.value(position.uuid, 'uuid')})`;
  const unscored = (position: Pick<Position, 'score' | 'uuid'>) => inOrder(ascending, 'c.score = -1', from(position));
  if (after !== null && after.score < 0) return unscored(after);
  const withScore = inOrder(ascending, from(after ?? { score: 0, uuid: LOWEST_UUID }), within);
  return scored === null ? `(${withScore}) UNION ALL (${unscored({ score: -1, uuid: LOWEST_UUID })})` : withScore;
}

const LOWEST_UUID = '00000000-0000-0000-0000-000000000000';

async function intersect(db: Database, query: CallQuery, filter: ResolvedFilter): Promise<Position[]> {
  const sql = new EntryQuery(filter);
  const page = pageOf(sql, query);
  const indexed = indexedBy(filter);
  const [first] = indexed as [Postings];
  const found =
    first.column === TAGS
      ? sql.tagged(isIn(sql, first), ...conditionsOf(sql, filter, first))
      : sql.entries(...indexed.map((each) => isIn(sql, each)), ...conditionsOf(sql, filter, null));
  const text = `SELECT ${POSITION_COLUMNS} FROM (SELECT uuid, start_time, score FROM ${found} OFFSET 0) AS c
    WHERE ${sql.after(query.sort, query.after) ?? 'true'} ORDER BY ${orderBy(query.sort, 'c')} ${page}`;
  return run(db, text, sql, { sorting: true, bitmaps: true, indexes: false });
}

/** The posting lists to intersect. The shortest list of tags is read by itself: its index does not contain the firm. */
function indexedBy({ postings, total }: ResolvedFilter): readonly Postings[] {
  const narrow = postings.filter(({ size }) => size < total * BROAD_SHARE);
  const candidates = narrow.length === 0 ? postings : narrow;
  const shortest = candidates.reduce((best, each) => (each.size < best.size ? each : best));
  return shortest.column === TAGS ? [shortest] : candidates.filter(({ column }) => column !== TAGS);
}

async function sortMatches(
  db: Database,
  query: CallQuery,
  filter: ResolvedFilter,
  { postings }: Sorted,
): Promise<Position[]> {
  const sql = new EntryQuery(filter);
  const page = pageOf(sql, query);
  const keys = sql.value(postings.keys, 'int[]');
  const after = sql.after(query.sort, query.after);
  const matching = conditionsOf(sql, filter, postings);
  const found = sql.entries(`c.${postings.column} = ANY(${keys})`, ...matching);
  // OFFSET 0 keeps PostgreSQL from merging the two queries and then reading the index of the sort.
  const text = `SELECT ${POSITION_COLUMNS} FROM (SELECT uuid, start_time, score FROM ${found} OFFSET 0) AS c
    WHERE ${after ?? 'true'} ORDER BY ${orderBy(query.sort, 'c')} ${page}`;
  return run(db, text, sql, { sorting: true });
}

async function merge(db: Database, query: CallQuery, filter: ResolvedFilter, plan: Merge): Promise<Position[] | null> {
  const { sort, offset, limit } = query;
  const { column } = plan.postings;
  const sql = new EntryQuery(filter);
  const order = orderBy(sort, 'c');
  const page = pageOf(sql, query);
  const keys = sql.value(plan.postings.keys, 'int[]');
  const after = sql.after(sort, query.after);
  const matching = conditionsOf(sql, filter, plan.postings);
  const first = sql.value(offset + limit, 'int');
  if (plan.perKey === null) {
    const found = sql.entries(`c.${column} = each.key`, after, ...matching);
    const text = `SELECT ${POSITION_COLUMNS} FROM unnest(${keys}) AS each (key) CROSS JOIN LATERAL (
        SELECT c.uuid, c.start_time, c.score FROM ${found} ORDER BY ${order} LIMIT ${first}) AS c
      ORDER BY ${order} ${page}`;
    return run(db, text, sql, { sorting: true });
  }
  const perKey = sql.value(plan.perKey, 'int');
  const found = sql.entries(`c.${column} = each.key`, after);
  // A list that was not read to its end may contain more matches. So the order is uncertain from its last entry on.
  const text = `SELECT ${POSITION_COLUMNS}, is_uncertain AS "isUncertain" FROM (
      SELECT c.*, bool_or(is_end) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS is_uncertain
      FROM unnest(${keys}) AS each (key) CROSS JOIN LATERAL (
        SELECT c.uuid, c.start_time, c.score, c.is_end FROM (
          SELECT c.*, row_number() OVER (ORDER BY ${order}) = ${perKey} AS is_end
          FROM (SELECT c.* FROM ${found} ORDER BY ${order} LIMIT ${perKey}) AS c) AS c
        WHERE is_end OR (${matching.join(' AND ')}) ORDER BY ${order} LIMIT ${first}) AS c) AS c
    ORDER BY ${order} ${page}`;
  const merged = await run<Position & { isUncertain: boolean }>(db, text, sql, { sorting: true });
  if (merged.some(({ isUncertain }) => isUncertain) || (merged.length === 0 && offset > 0)) return null;
  return merged.map(({ uuid, startTime, score }) => ({ uuid, startTime, score }));
}

function pageOf(sql: EntryQuery, { offset, limit }: CallQuery): string {
  return `LIMIT ${sql.value(limit, 'int')} OFFSET ${sql.value(offset, 'int')}`;
}
