import { isTimeZone } from '@call-analysis/api/access';
import { type Database, type Sql, columnsOf } from '@call-analysis/postgres';
import type { CarryOver } from '../listing/carry-over-store.ts';
import { type FilteredCalls, type ListedTable, matching, Values } from '../listing/filter-sql.ts';
import {
  type Grouping,
  isTime,
  PROPERTIES,
  type PropertyGrouping,
  TIMES,
  type Value,
  type ValueProperty,
  VALUES,
} from './groupings.ts';
import type { Day, TimeRange } from './periods.ts';
import { type Amounts, AMOUNTS, histogramOf, packScores, type Sums, unpackScores } from './sums.ts';

/** A grouping of statistics, `all` for none, or the beginning of hours or quarters of an hour. */
export type Keys = { readonly by: Grouping; readonly tz: string } | { readonly by: 'all' | Slot };
export type Slot = 'hour' | 'quarter';

/** The sums of groups by their keys as text, empty for calls without one. */
export type SumsByKey = Map<string, Sums>;

/** Slots have the sums of all calls together, days those of every grouping too; of all calls, or of those with a value. */
export interface StoredSums {
  readonly period: Slot | 'day';
  readonly beginsAt: Date;
  readonly by: PropertyGrouping | 'all';
  readonly of: Value | null;
  readonly byKey: SumsByKey;
}

const SLOT_LENGTHS = { hour: '1 hour', quarter: '15 minutes' } as const;

type Row = Record<keyof Amounts, number> & { readonly key: string; readonly scores: Buffer | null };

/** The calls that are added up: those that match a filter, and started in one of the ranges if there are some. */
export interface Source extends FilteredCalls {
  readonly ranges?: readonly TimeRange[];
}

/** Names of a property's values. Several may mean the same value. */
export interface Names {
  readonly property: ValueProperty;
  readonly names: readonly string[];
}

/** Statistics of a firm's calls. Pass a transaction of `snapshot`, so that all reads agree. */
export function statistics(db: Database, carryOver: CarryOver) {
  // PostgreSQL reads the files of all zones for each look-up. Unknown names are not kept, so this stays small.
  const knownZones = new Set<string>();

  /** Adds up the calls of each value that has one of the names; without a property all calls, as the value ''. */
  async function addEach(sql: Sql, source: Source, keys: Keys, of: Names | null): Promise<Map<string, SumsByKey>> {
    const values = new Values();
    let calls = callsOf(values, await carryOver.table(sql), source);
    let [name, value] = [`''::text`, 'name'];
    if (of !== null) {
      [name, value] = [`c.${of.property}`, VALUES[of.property]('name')];
      calls = `(SELECT * FROM ${calls} WHERE ${name} = ANY(${values.add(of.names, 'text[]')})) AS c`;
    }
    const added =
      keys.by === 'question'
        ? byQuestion(name, calls, await carryOver.pointsTable(sql))
        : byKey(name, calls, keyOf(values, keys));
    // Cheaper than the text for each call.
    const text = 'tz' in keys && isTime(keys.by) ? `to_char(key, '${TIMES[keys.by]}')` : 'key';
    const rows = await sql.query<Row & { readonly value: string }>(
      `SELECT ${value} AS value, ${text} AS key, ${summed(AMOUNTS.map((amount) => `"${amount}"`))},
         string_agg(scores, '') AS scores
       FROM (${added}) AS added GROUP BY 1, 2`,
      values.all,
    );
    const sums = (row: Row) => ({ amounts: amountsIn(row), scores: histogramOf(row.scores) });
    const byValue = Map.groupBy(rows, (row) => row.value);
    return new Map([...byValue].map(([each, groups]) => [each, new Map(groups.map((row) => [row.key, sums(row)]))]));
  }

  return {
    /** A transaction whose reads see one state of the database. */
    async snapshot<Result>(work: (tx: Sql) => Promise<Result>): Promise<Result> {
      const isCarriedOver = await carryOver.isDone();
      return db.transaction(async (tx) => {
        await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        await tx.query("SET LOCAL jit = off; SET LOCAL work_mem = '64MB'");
        // The end of carrying over empties this table, and waits for the transaction: its state may lack calls carried over last.
        if (!isCarriedOver) await tx.query('LOCK TABLE call_search IN ACCESS SHARE MODE');
        return work(tx);
      });
    },

    /** Whether the database and JavaScript, in which exports write times, both have the time zone. */
    async knowsZone(tz: string): Promise<boolean> {
      if (knownZones.has(tz)) return true;
      if (!isTimeZone(tz)) return false;
      const rows = await db.query('SELECT 1 FROM pg_timezone_names WHERE name = $1', [tz]);
      if (rows.length === 0) return false;
      knownZones.add(tz);
      return true;
    },

    /**
     * The days on which calls started, of those that overlap the range, in order. The sums of a value are stored on the days on which
     * it was frequent.
     */
    async daysOf(
      sql: Sql,
      firmUuid: string,
      { from, to }: { readonly from: Date | null; readonly to: Date | null },
      of: Value | null,
    ): Promise<Day[]> {
      return sql.query<Day>(
        `SELECT begins_at AS "beginsAt", bool_and(is_stored) AS "isStored" FROM (
           SELECT firm_uuid, begins_at, $4::text IS NULL OR EXISTS (
             SELECT FROM statistic_sum AS sum WHERE sum.firm_uuid = statistic_day.firm_uuid AND sum.period = 'day'
               AND sum.kind = $4 AND sum.begins_at = statistic_day.begins_at) AS is_stored
           FROM statistic_day
           UNION ALL SELECT DISTINCT firm_uuid, begins_at, false FROM statistic_change WHERE firm_uuid = $1) AS day
         WHERE firm_uuid = $1 AND ($2::timestamptz IS NULL OR begins_at > $2::timestamptz - interval '1 day')
           AND ($3::timestamptz IS NULL OR begins_at < $3)
         GROUP BY begins_at ORDER BY begins_at`,
        [firmUuid, from, to, of && kindOf('all', of)],
      );
    },

    /** What a filter by the property compares with the calls' own. */
    async valueOf(sql: Sql, property: ValueProperty, name: string): Promise<Value> {
      const [row] = await sql.query<{ value: string }>(`SELECT ${VALUES[property]('$1::text')} AS value`, [name]);
      return { property, value: row!.value };
    },

    /** The names of the property's values that at least so many of the calls have. */
    async frequent(sql: Sql, source: Source, property: ValueProperty, least: number): Promise<string[]> {
      const values = new Values();
      const calls = callsOf(values, await carryOver.table(sql), source);
      const rows = await sql.query<{ names: string[] }>(
        `SELECT array_agg(name) AS names FROM (
           SELECT c.${property} AS name, count(*) AS calls FROM ${calls} WHERE c.${property} IS NOT NULL GROUP BY 1) AS named
         GROUP BY ${VALUES[property]('name')} HAVING sum(calls) >= ${values.add(least, 'int')}`,
        values.all,
      );
      return rows.flatMap(({ names }) => names);
    },

    /** Adds up the calls themselves. */
    async add(sql: Sql, source: Source, keys: Keys): Promise<SumsByKey> {
      return (await addEach(sql, source, keys, null)).get('') ?? new Map();
    },

    addEach,

    /** Adds up the stored sums of days. */
    async addStored(
      sql: Sql,
      firmUuid: string,
      by: PropertyGrouping | 'all',
      of: Value | null,
      days: readonly Date[],
    ): Promise<SumsByKey> {
      if (days.length === 0) return new Map();
      const rows = await sql.query<Row>(
        `SELECT key, ${summedAmounts()}, string_agg(scores, '') AS scores FROM statistic_sum
         WHERE firm_uuid = $1 AND period = 'day' AND kind = $2 AND begins_at = ANY($3) GROUP BY key`,
        [firmUuid, kindOf(by, of), days],
      );
      return storedSums(rows);
    },

    /** Adds up the stored hours or quarters within these ranges by a time in a time zone. */
    async addSlots(
      sql: Sql,
      firmUuid: string,
      { by, tz }: { readonly by: keyof typeof TIMES; readonly tz: string },
      of: Value | null,
      slot: Slot,
      ranges: readonly TimeRange[],
    ): Promise<SumsByKey> {
      if (ranges.length === 0) return new Map();
      const rows = await sql.query<Row>(
        `SELECT to_char(begins_at AT TIME ZONE $3, '${TIMES[by]}') AS key, ${summedAmounts()}, string_agg(scores, '') AS scores
         FROM unnest($4::timestamptz[], $5::timestamptz[]) AS ranges (first, last) JOIN statistic_sum
           ON firm_uuid = $1 AND period = $2 AND kind = $6 AND begins_at >= first AND begins_at < last
         GROUP BY 1`,
        [firmUuid, slot, tz, ranges.map(({ from }) => from), ranges.map(({ to }) => to), kindOf('all', of)],
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

    /** What scorecards and questions are called, by their uuids. */
    async labels(sql: Sql, firmUuid: string, uuids: readonly string[]): Promise<Map<string, string>> {
      const rows = await sql.query<{ uuid: string; text: string }>(
        'SELECT uuid, text FROM scorecard_label WHERE firm_uuid = $1 AND uuid = ANY($2)',
        [firmUuid, uuids],
      );
      return new Map(rows.map(({ uuid, text }) => [uuid, text]));
    },

    /** Leaves one change of a day of which there are many. */
    async foldChanges(): Promise<void> {
      await db.query(
        `WITH many AS (SELECT firm_uuid, begins_at FROM statistic_change GROUP BY 1, 2 HAVING count(*) > 10),
         taken AS (DELETE FROM statistic_change USING many
           WHERE statistic_change.firm_uuid = many.firm_uuid AND statistic_change.begins_at = many.begins_at
           RETURNING statistic_change.firm_uuid, statistic_change.begins_at, at)
         INSERT INTO statistic_change (firm_uuid, begins_at, at) SELECT firm_uuid, begins_at, max(at) FROM taken GROUP BY 1, 2`,
      );
    },

    /** The days that were last changed before this time, the oldest change first. */
    async changedDays(before: Date, limit: number): Promise<{ firmUuid: string; beginsAt: Date }[]> {
      return db.query(
        `SELECT firm_uuid AS "firmUuid", begins_at AS "beginsAt" FROM statistic_change
         GROUP BY 1, 2 HAVING max(at) < $1 ORDER BY max(at), begins_at LIMIT $2`,
        [before, limit],
      );
    },

    /** Stores the sums of a day with its slots, instead of earlier ones, and removes the changes that they contain. */
    async storeDay(tx: Sql, firmUuid: string, { from, to }: TimeRange, sums: readonly StoredSums[]): Promise<void> {
      await tx.query(
        `DELETE FROM statistic_sum WHERE firm_uuid = $1 AND period = ANY('{day,hour,quarter}') AND begins_at >= $2 AND begins_at < $3`,
        [firmUuid, from, to],
      );
      const rows = sums.flatMap(({ period, beginsAt, by, of, byKey: sumsByKey }) =>
        [...sumsByKey].map(([key, each]) => ({ period, beginsAt, kind: kindOf(by, of), key, ...each })),
      );
      await tx.query(
        `INSERT INTO statistic_sum (firm_uuid, period, begins_at, kind, key, amounts, scores)
         SELECT $1, period, begins_at, kind, key, amounts::bigint[], scores
         FROM unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::bytea[])
           AS added (period, begins_at, kind, key, amounts, scores)`,
        [
          firmUuid,
          ...columnsOf(rows, 'period', 'beginsAt', 'kind', 'key'),
          rows.map(({ amounts }) => `{${AMOUNTS.map((name) => amounts[name]).join(',')}}`),
          rows.map(({ scores }) => packScores(scores)),
        ],
      );
      await tx.query('INSERT INTO statistic_day (firm_uuid, begins_at) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
        firmUuid,
        from,
      ]);
      await tx.query('DELETE FROM statistic_change WHERE firm_uuid = $1 AND begins_at = $2', [firmUuid, from]);
    },
  };
}

/** How the sums of a grouping are stored. */
function kindOf(by: PropertyGrouping | 'all', of: Value | null): string {
  return of === null ? by : `${by} of ${of.property} ${of.value}`;
}

function callsOf(values: Values, table: ListedTable, source: Source): string {
  const within = (source.ranges ?? []).map(
    ({ from, to }) =>
      `c.start_time >= ${values.add(from, 'timestamptz')} AND c.start_time < ${values.add(to, 'timestamptz')}`,
  );
  const ranges = within.length === 0 ? '' : `AND (${within.join(' OR ')})`;
  return `(SELECT c.* FROM ${matching(values, table, source)} ${ranges}) AS c`;
}

/** The amounts of calls `c`, without their points. */
const AMOUNTS_OF_CALLS = `count(*) AS "calls", count(*) FILTER (WHERE c.score >= 0) AS "scored",
  sum(c.score) FILTER (WHERE c.score >= 0) AS "score", count(*) FILTER (WHERE c.auto_failed) AS "autoFailed",
  count(*) FILTER (WHERE c.needs_review > 0) AS "needsReview", count(*) FILTER (WHERE c.is_reviewed) AS "reviewed",
  count(c.duration) AS "durations", sum(c.duration) AS "duration", count(c.operator_talk) AS "talks", sum(c.operator_talk) AS "talk",
  count(c.silence) AS "silences", sum(c.silence) AS "silence", count(c.interruptions) AS "interrupted",
  sum(c.interruptions) AS "interruptions", count(c.client_sentiment) AS "sentiments", sum(c.client_sentiment) AS "sentiment"`;
/** Counted here: to group by scores as well took PostgreSQL two to four times as long. */
const SCORES_OF_CALLS = `string_agg(int2send(c.score), '') FILTER (WHERE c.score >= 0) AS scores`;

/** `name`: the expression by which the sums are apart beside their keys. */
function byKey(name: string, calls: string, { key, joins }: { key: string; joins: string }): string {
  return `SELECT ${name} AS name, ${key} AS key, ${AMOUNTS_OF_CALLS}, 0 AS "points", 0 AS "maxPoints", ${SCORES_OF_CALLS}
    FROM ${calls} ${joins} GROUP BY 1, 2`;
}

/**
 * Calls of one scorecard have the same questions, so that they are added up by these first and counted under each
 * question afterwards. Only points are added up answer by answer.
 */
function byQuestion(name: string, calls: string, pointsTable: string): string {
  const amounts = AMOUNTS.filter((name) => name !== 'points' && name !== 'maxPoints');
  return `WITH answered AS (
      SELECT ${name} AS name, c.score, c.auto_failed, c.needs_review, c.is_reviewed, c.duration, c.operator_talk, c.silence, c.interruptions,
        c.client_sentiment, answers.questions, answers.points, answers.max_points
      FROM ${calls}
        -- In earlier releases points outlived an analysis that was replaced by a result without speech.
        LEFT JOIN ${pointsTable} AS answers
          ON answers.firm_uuid = c.firm_uuid AND answers.uuid = c.uuid AND c.scorecard_uuid IS NOT NULL)
    SELECT name, coalesce(${PROPERTIES.question}::text, '') AS key, ${amounts.map((name) => `"${name}"`).join(', ')},
      0 AS "points", 0 AS "maxPoints", scores
    FROM (SELECT c.name, c.questions, ${AMOUNTS_OF_CALLS}, ${SCORES_OF_CALLS} FROM answered AS c GROUP BY 1, 2) AS alike
      LEFT JOIN LATERAL unnest(questions) AS question ON true
    UNION ALL
    SELECT answered.name, answer.question::text, ${amounts.map(() => '0').join(', ')}, sum(answer.points), sum(answer.max_points), NULL
    FROM answered CROSS JOIN LATERAL unnest(answered.questions, answered.points, answered.max_points)
      AS answer (question, points, max_points)
    GROUP BY 1, answer.question`;
}

function keyOf(values: Values, keys: Keys): { key: string; joins: string } {
  if (!('tz' in keys)) {
    if (keys.by === 'all') return { key: "''", joins: '' };
    // The slot's first moment as Unix milliseconds.
    const key = `(extract(epoch FROM date_bin('${SLOT_LENGTHS[keys.by]}', c.start_time, 'epoch')) * 1000)::bigint::text`;
    return { key, joins: '' };
  }
  const { by, tz } = keys;
  if (isTime(by)) return { key: `date_trunc('${by}', c.start_time AT TIME ZONE ${values.add(tz, 'text')})`, joins: '' };
  const key = `coalesce(${PROPERTIES[by]}::text, '')`;
  if (by === 'topic') return { key, joins: 'LEFT JOIN LATERAL unnest(c.topics) AS topic ON true' };
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

function storedSums(rows: readonly Row[]): SumsByKey {
  return new Map(
    rows.map((row) => [row.key, { amounts: amountsIn(row), scores: unpackScores(row.scores ?? Buffer.alloc(0)) }]),
  );
}

export type StatisticStore = ReturnType<typeof statistics>;
