import type { Database, Sql } from '@call-analysis/postgres';
import { EntryQuery } from '../search/queries/entry-query.ts';
import { conditionsOf, isIn, type ResolvedFilter, TAGS } from '../search/queries/resolve-filter.ts';
import { FACETS, type FacetGrouping, type Grouping, isTime, TIMES } from './groupings.ts';
import { type Amounts, AMOUNTS, packScores, type Sums, unpackScores } from './sums.ts';

/** From inclusive, to exclusive. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** A grouping of statistics, `all` for none, or the beginning of hours or quarters of an hour. */
type Keys = { readonly by: Grouping; readonly tz: string } | { readonly by: 'all' | Slot };
export type Slot = 'hour' | 'quarter';
/**
 * Each consists of those before it. Slots have the sums of all calls together, the others those of every grouping too.
 */
export type Period = Slot | 'six_hours' | 'day' | 'month';

/** The sums of groups by their keys: text for times, ids of facets otherwise, `0` for calls without one. */
export type SumsByKey = Map<string, Sums>;

const SLOT_LENGTHS = { hour: '1 hour', quarter: '15 minutes' } as const;

/** A period whose sums are stored, by its first moment in UTC. */
export interface StoredPeriod {
  readonly period: Exclude<Period, Slot>;
  readonly beginsAt: Date;
}

type Row = Record<keyof Amounts, number> & { readonly key: string; readonly scores: Buffer | null };

/** The calls that are added up: all of the firm in some ranges of time, or those that match a filter. */
export type Source =
  | { readonly firm: number; readonly ranges: readonly TimeRange[] }
  | { readonly filter: ResolvedFilter; readonly words: string | null; readonly callUuid: string | null };

/** Statistics of a firm's entries in the search index. Pass a transaction of `snapshot`, so that all reads agree. */
export function statistics(db: Database) {
  // PostgreSQL reads the files of all zones for each look-up. Unknown names are not kept, so this stays small.
  const knownZones = new Set<string>();

  return {
    /** A transaction whose reads see one state of the database. */
    async snapshot<Result>(work: (tx: Sql) => Promise<Result>): Promise<Result> {
      return db.transaction(async (tx) => {
        await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        await tx.query("SET LOCAL jit = off; SET LOCAL work_mem = '64MB'");
        return work(tx);
      });
    },

    /** Whether PostgreSQL knows the time zone. */
    async knowsZone(tz: string): Promise<boolean> {
      if (knownZones.has(tz)) return true;
      const rows = await db.query('SELECT 1 FROM pg_timezone_names WHERE name = $1', [tz]);
      if (rows.length === 0) return false;
      knownZones.add(tz);
      return true;
    },

    /** The id of the firm's entries, and the days in UTC on which calls started; null for a firm without calls. */
    async daysOf(sql: Sql, firmUuid: string): Promise<{ firm: number; days: string[] } | null> {
      const rows = await sql.query<{ id: number; kind: string; value: string }>(
        `SELECT id, kind, value FROM facet WHERE firm_uuid = $1 AND kind IN ('all', 'day') ORDER BY value`,
        [firmUuid],
      );
      const all = rows.find(({ kind }) => kind === 'all');
      if (all === undefined) return null;
      return { firm: all.id, days: rows.filter(({ kind }) => kind === 'day').map(({ value }) => value) };
    },

    /** The periods whose stored sums are up to date, of those that begin in the range. */
    async storedPeriods(
      sql: Sql,
      firm: number,
      { from, to }: { readonly from: Date | null; readonly to: Date | null },
    ): Promise<StoredPeriod[]> {
      return sql.query<StoredPeriod>(
        `SELECT period, begins_at AS "beginsAt" FROM statistic_period
         WHERE firm = $1 AND ($2::timestamptz IS NULL OR begins_at >= $2) AND ($3::timestamptz IS NULL OR begins_at < $3)`,
        [firm, from, to],
      );
    },

    /** Adds up entries themselves. */
    async add(sql: Sql, source: Source, keys: Keys): Promise<SumsByKey> {
      const query = new EntryQuery('filter' in source ? source.filter : { firm: source.firm, range: null });
      const entries = entriesOf(query, source);
      const scored = keys.by === 'question' ? byQuestion(entries) : byKey(entries, keyOf(query, keys));
      const rows = await sql.query<Row>(
        `SELECT key, ${summed(AMOUNTS.map((name) => `"${name}"`))},
           string_agg(int2send(tenths) || int4send("calls"::int), '') FILTER (WHERE tenths >= 0) AS scores
         FROM (${scored}) AS scored
         GROUP BY key`,
        query.values,
      );
      return new Map(rows.map((row) => [row.key, { amounts: amountsIn(row), scores: histogramIn(row.scores) }]));
    },

    /** Adds up stored sums of periods that begin at these times. */
    async addStored(
      sql: Sql,
      firm: number,
      period: StoredPeriod['period'],
      kind: FacetGrouping | 'all',
      begins: readonly Date[],
    ): Promise<SumsByKey> {
      if (begins.length === 0) return new Map();
      const rows = await sql.query<Row>(
        `SELECT key::text AS key, ${summedAmounts()}, string_agg(scores, '') AS scores FROM statistic_sum
         WHERE firm = $1 AND period = $2 AND kind = $3 AND begins_at = ANY($4) GROUP BY key`,
        [firm, period, kind, begins],
      );
      return storedSums(rows);
    },

    /** Adds up the stored hours or quarters within these ranges by a time in a time zone. */
    async addSlots(
      sql: Sql,
      firm: number,
      { by, tz }: { readonly by: keyof typeof TIMES; readonly tz: string },
      slot: Slot,
      ranges: readonly TimeRange[],
    ): Promise<SumsByKey> {
      if (ranges.length === 0) return new Map();
      const rows = await sql.query<Row>(
        `SELECT to_char(begins_at AT TIME ZONE $3, '${TIMES[by]}') AS key, ${summedAmounts()}, string_agg(scores, '') AS scores
         FROM unnest($4::timestamptz[], $5::timestamptz[]) AS ranges (first, last) JOIN statistic_sum
           ON firm = $1 AND period = $2 AND kind = 'all' AND begins_at >= first AND begins_at < last
         GROUP BY 1`,
        [firm, slot, tz, ranges.map(({ from }) => from), ranges.map(({ to }) => to)],
      );
      return storedSums(rows);
    },

    /**
     * The ranges in which a slot has times of two different keys: only the calls themselves distinguish them. A change
     * of the clocks in the middle of a slot is one.
     */
    async uneven(
      sql: Sql,
      { by, tz }: { readonly by: keyof typeof TIMES; readonly tz: string },
      slot: Slot,
      ranges: readonly TimeRange[],
    ): Promise<TimeRange[]> {
      const text = (time: string) => `to_char((${time}) AT TIME ZONE $2, '${TIMES[by]}')`;
      return sql.query<TimeRange>(
        `SELECT "from", "to" FROM unnest($1::timestamptz[], $4::timestamptz[]) AS ranges ("from", "to") WHERE EXISTS (
           SELECT FROM generate_series("from", "to" - $3::interval, $3::interval) AS slots (slot)
           WHERE ${text('slot')} <> ${text("slot + $3::interval - interval '1 millisecond'")})`,
        [ranges.map(({ from }) => from), tz, SLOT_LENGTHS[slot], ranges.map(({ to }) => to)],
      );
    },

    /** Facts about facets, by their ids. */
    async facets(sql: Sql, ids: readonly number[]): Promise<{ id: number; value: string; label: string | null }[]> {
      return sql.query('SELECT id, value, label FROM facet WHERE id = ANY($1)', [ids]);
    },

    /** The six hours that were last changed before this time, the oldest change first, with their day in UTC. */
    async changedPeriods(before: Date, limit: number): Promise<{ firm: number; day: string; beginsAt: Date }[]> {
      return db.query(
        `SELECT firm, to_char(begins_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, begins_at AS "beginsAt"
         FROM statistic_change WHERE changed_at < $1 ORDER BY changed_at, begins_at LIMIT $2`,
        [before, limit],
      );
    },

    /** Notes those of the six hours as changed that have neither sums nor a change, and returns them. */
    async noteMissing(firm: number, begins: readonly Date[]): Promise<Date[]> {
      const rows = await db.query<{ beginsAt: Date }>(
        `INSERT INTO statistic_change (firm, begins_at, changed_at)
         SELECT $1, missing, '-infinity' FROM unnest($2::timestamptz[]) AS missing WHERE NOT EXISTS (
           SELECT FROM statistic_period WHERE firm = $1 AND period = 'six_hours' AND begins_at = missing)
         ON CONFLICT DO NOTHING RETURNING begins_at AS "beginsAt"`,
        [firm, begins],
      );
      return rows.map(({ beginsAt }) => beginsAt);
    },

    /** Stores the sums of periods, instead of earlier ones. */
    async store(
      tx: Sql,
      firm: number,
      sums: readonly { period: Period; beginsAt: Date; kind: string; byKey: SumsByKey }[],
      ranges: readonly { period: Period; range: TimeRange }[],
    ): Promise<void> {
      for (const { period, range } of ranges) {
        await tx.query(
          'DELETE FROM statistic_sum WHERE firm = $1 AND period = $2 AND begins_at >= $3 AND begins_at < $4',
          [firm, period, range.from, range.to],
        );
      }
      const rows = sums.flatMap(({ byKey, ...rest }) => [...byKey].map(([key, each]) => ({ ...rest, key, ...each })));
      await tx.query(
        `INSERT INTO statistic_sum (firm, period, begins_at, kind, key, amounts, scores)
         SELECT $1, period, begins_at, kind, key, amounts::bigint[], scores
         FROM unnest($2::text[], $3::timestamptz[], $4::text[], $5::int[], $6::text[], $7::bytea[])
           AS added (period, begins_at, kind, key, amounts, scores)`,
        [
          firm,
          rows.map(({ period }) => period),
          rows.map(({ beginsAt }) => beginsAt),
          rows.map(({ kind }) => kind),
          rows.map(({ key }) => Number(key)),
          rows.map(({ amounts }) => `{${AMOUNTS.map((name) => amounts[name]).join(',')}}`),
          rows.map(({ scores }) => packScores(scores)),
        ],
      );
    },

    /** Declares the stored sums of a period up to date. */
    async declare(tx: Sql, firm: number, { period, beginsAt }: StoredPeriod): Promise<void> {
      await tx.query(
        'INSERT INTO statistic_period (firm, period, begins_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [firm, period, beginsAt],
      );
    },

    /** Removes the change of six hours. Fails when they have changed again since the transaction began. */
    async settle(tx: Sql, firm: number, beginsAt: Date): Promise<void> {
      await tx.query('DELETE FROM statistic_change WHERE firm = $1 AND begins_at = $2', [firm, beginsAt]);
    },

    /** Keeps the sums of these periods as they are until the transaction ends. Returns how many are up to date. */
    async hold(tx: Sql, firm: number, period: StoredPeriod['period'], begins: readonly Date[]): Promise<number> {
      const rows = await tx.query(
        `SELECT 1 FROM statistic_period WHERE firm = $1 AND period = $2 AND begins_at = ANY($3) FOR SHARE`,
        [firm, period, begins],
      );
      return rows.length;
    },

    /** The days of a month, such as `2026-11`, on which calls of the firm have started. */
    async daysOfMonth(sql: Sql, firm: number, month: string): Promise<string[]> {
      const rows = await sql.query<{ value: string }>(
        `SELECT value FROM facet WHERE firm_uuid = (SELECT firm_uuid FROM facet WHERE id = $1) AND kind = 'day'
           AND value BETWEEN $2 AND $3`,
        [firm, `${month}-01`, `${month}-31`],
      );
      return rows.map(({ value }) => value);
    },
  };
}

function entriesOf(query: EntryQuery, source: Source): string {
  if ('ranges' in source) {
    // Constants, from which PostgreSQL estimates how many calls there are; of a few it looks up the points one by one.
    const within = ({ from, to }: TimeRange) =>
      `c.start_time >= ${query.value(from, 'timestamptz')} AND c.start_time < ${query.value(to, 'timestamptz')}`;
    return `(SELECT c.* FROM ${query.entries(`(${source.ranges.map(within).join(' OR ')})`)}) AS c`;
  }
  const { filter, words, callUuid } = source;
  const one = callUuid === null ? [] : [`c.uuid = ${query.value(callUuid, 'uuid')}`];
  if (words !== null) {
    const conditions = [`t.words @@ ${query.value(words, 'tsquery')}`, ...one, ...conditionsOf(query, filter, null)];
    return `(SELECT c.* FROM ${query.documents({ withEntries: true }, ...conditions)}) AS c`;
  }
  return `(SELECT c.* FROM ${matching(query, filter, one)}) AS c`;
}

/** The shortest posting list serves the query; the other conditions are checked on its entries. */
function matching(query: EntryQuery, filter: ResolvedFilter, one: readonly string[]): string {
  const { postings, started } = filter;
  const [first, ...others] = postings;
  if (first === undefined || one.length > 0) return query.entries(...one, ...conditionsOf(query, filter, null));
  const shortest = others.reduce((best, each) => (each.size < best.size ? each : best), first);
  if (shortest.column === TAGS) return query.tagged(isIn(query, shortest), ...conditionsOf(query, filter, shortest));
  if (shortest !== started?.postings)
    return query.entries(isIn(query, shortest), ...conditionsOf(query, filter, shortest));
  return query.entries(
    started.from === null ? null : `c.start_time >= ${query.value(started.from, 'timestamptz')}`,
    started.to === null ? null : `c.start_time < ${query.value(started.to, 'timestamptz')}`,
    ...conditionsOf(query, filter, null),
  );
}

/** The amounts of entries `c`, without their points. */
const AMOUNTS_OF_ENTRIES = `count(*) AS "calls", count(*) FILTER (WHERE c.score >= 0) AS "scored",
  sum(c.score) FILTER (WHERE c.score >= 0) AS "score", count(*) FILTER (WHERE c.auto_failed) AS "autoFailed",
  count(*) FILTER (WHERE c.open_answers > 0) AS "needsReview", count(*) FILTER (WHERE c.is_reviewed) AS "reviewed",
  count(c.duration_ms) AS "durations", sum(c.duration_ms::bigint) AS "duration",
  count(c.operator_talk) AS "talks", sum(c.operator_talk::bigint) AS "talk",
  count(c.silence) AS "silences", sum(c.silence::bigint) AS "silence",
  count(c.interruptions) AS "interrupted", sum(c.interruptions::bigint) AS "interruptions",
  count(c.client_sentiment) AS "sentiments", sum(c.client_sentiment::bigint) AS "sentiment"`;

function byKey(entries: string, { key, joins }: { key: string; joins: string }): string {
  return `SELECT ${key} AS key, c.score AS tenths, ${AMOUNTS_OF_ENTRIES}, 0 AS "points", 0 AS "maxPoints"
    FROM ${entries} ${joins} GROUP BY 1, 2`;
}

/**
 * Calls of one scorecard have the same questions, so that they are added up by these first and counted under each
 * question afterwards. Only points are added up answer by answer.
 */
function byQuestion(entries: string): string {
  const amounts = AMOUNTS.filter((name) => name !== 'points' && name !== 'maxPoints');
  return `WITH answered AS (
      SELECT c.score, c.auto_failed, c.open_answers, c.is_reviewed, c.duration_ms, c.operator_talk, c.silence, c.interruptions,
        c.client_sentiment, call_points.questions, call_points.points, call_points.max_points
      FROM ${entries}
        -- Points outlive an analysis that was replaced by a result without speech.
        LEFT JOIN call_points ON call_points.firm = c.firm AND call_points.uuid = c.uuid AND c.scorecard IS NOT NULL)
    SELECT coalesce(${FACETS.question}, 0)::text AS key, tenths, ${amounts.map((name) => `"${name}"`).join(', ')}, 0 AS "points", 0 AS "maxPoints"
    FROM (SELECT c.questions, c.score AS tenths, ${AMOUNTS_OF_ENTRIES} FROM answered AS c GROUP BY 1, 2) AS alike
      LEFT JOIN LATERAL unnest(questions) AS question ON true
    UNION ALL
    SELECT answer.question::text, -1::smallint, ${amounts.map(() => '0').join(', ')}, sum(answer.points), sum(answer.max_points)
    FROM answered CROSS JOIN LATERAL unnest(answered.questions, answered.points, answered.max_points)
      AS answer (question, points, max_points)
    GROUP BY answer.question`;
}

function keyOf(query: EntryQuery, keys: Keys): { key: string; joins: string } {
  if (!('tz' in keys)) {
    if (keys.by === 'all') return { key: "'0'", joins: '' };
    // The slot's first moment as Unix milliseconds.
    const key = `(extract(epoch FROM date_bin('${SLOT_LENGTHS[keys.by]}', c.start_time, 'epoch')) * 1000)::bigint::text`;
    return { key, joins: '' };
  }
  const { by, tz } = keys;
  if (isTime(by))
    return { key: `to_char(c.start_time AT TIME ZONE ${query.value(tz, 'text')}, '${TIMES[by]}')`, joins: '' };
  const key = `coalesce(${FACETS[by]}, 0)::text`;
  if (by === 'topic') return { key, joins: 'LEFT JOIN LATERAL unnest(c.topics) AS topic (id) ON true' };
  return { key, joins: '' };
}

function summed(columns: readonly string[]): string {
  return columns.map((column) => `coalesce(sum(${column}), 0)::bigint AS ${column}`).join(', ');
}

function summedAmounts(): string {
  return AMOUNTS.map((name, index) => `coalesce(sum(amounts[${index + 1}]), 0)::bigint AS "${name}"`).join(', ');
}

function amountsIn(row: Row): Amounts {
  return Object.fromEntries(AMOUNTS.map((name) => [name, row[name]])) as Amounts;
}

const PAIR_BYTES = 6;

/** Pairs of a score in two bytes and a number of calls in four. */
function histogramIn(bytes: Buffer | null): Map<number, number> {
  const scores = new Map<number, number>();
  for (let at = 0; at < (bytes?.length ?? 0); at += PAIR_BYTES) {
    const score = bytes!.readUInt16BE(at);
    scores.set(score, (scores.get(score) ?? 0) + bytes!.readUInt32BE(at + 2));
  }
  return scores;
}

function storedSums(rows: readonly Row[]): SumsByKey {
  return new Map(
    rows.map((row) => [row.key, { amounts: amountsIn(row), scores: unpackScores(row.scores ?? Buffer.alloc(0)) }]),
  );
}
