import type { Dated } from '@call-analysis/api/fields';
import type { SamplePage, SamplingRule as SamplingRuleSchema } from '@call-analysis/api/sampling';
import { type Database, type Page, readPage, type Sql, valuesOf } from '@call-analysis/postgres';
import type { z } from 'zod';
import { type CallFilter, filterToStore, storedFilter } from '../../listing/call-filter.ts';
import type { CarryOver } from '../../listing/carry-over-store.ts';
import { type FilteredCalls, matching, Values } from '../../listing/filter-sql.ts';

/** A call's group: the sample has calls of each. An operator is known by id, or by name where the call has none. */
const GROUPS = {
  operator: `coalesce('id ' || c.operator_id, 'name ' || fold_name(c.operator_name))`,
  operator_group_name: 'fold_name(c.operator_group_name)',
  segment_type: 'c.segment_type',
  firm: `''`,
} as const;

/** Which calls of each day or week are chosen for a review, by chance. */
export interface SamplingRule extends Omit<
  Dated<z.output<typeof SamplingRuleSchema>, 'created_at' | 'updated_at'>,
  'enabled' | 'last_sample'
> {
  /** The filter as a listing has it. */
  readonly meaning: CallFilter;
  /** Since when; null while it is not enabled. */
  readonly enabled_at: Date | null;
}

/** What was chosen of a period, and what is needed to choose it again. */
export type Sample = Dated<z.output<typeof SamplePage>['items'][number], 'begins_at' | 'ends_at' | 'at'>;

/** Boundaries of days or weeks in a time zone. */
interface Boundaries {
  /** When the present period began, and the one before. */
  readonly current: Date;
  readonly previous: Date;
  /** The first boundary after a time. */
  readonly following: Date | null;
}

export interface RuleId {
  readonly firmUuid: string;
  readonly ruleUuid: string;
}

const COLUMNS = `uuid, name, query AS filter, filter AS meaning, per, count, share, every, enabled_at, by_uuid AS by,
  created_at, updated_at`;
const SAMPLE_COLUMNS = 'begins_at, ends_at, time_zone, seed, rule, calls, chosen, at';

/** Sampling rules and their samples. Every statement but `enabled` is limited to one firm. */
export function sampling(db: Database, carryOver: CarryOver) {
  return {
    /** Oldest first. */
    async list(firmUuid: string, page: Page): Promise<{ count: number; items: SamplingRule[] }> {
      const matching = 'FROM sampling_rule WHERE firm_uuid = $1';
      const listed = { columns: COLUMNS, matching, values: [firmUuid], orderBy: 'uuid' };
      const { count, items } = await readPage<SamplingRule>(db, listed, page);
      return { count, items: items.map(ruleOf) };
    },

    /** Null for an unknown rule. */
    async find(sql: Sql, { firmUuid, ruleUuid }: RuleId, lock: '' | 'FOR UPDATE' | 'FOR UPDATE SKIP LOCKED' = '') {
      const [row] = await sql.query<SamplingRule>(
        `SELECT ${COLUMNS} FROM sampling_rule WHERE firm_uuid = $1 AND uuid = $2 ${lock}`,
        [firmUuid, ruleUuid],
      );
      return row === undefined ? null : ruleOf(row);
    },

    /** How many rules the firm has. Others that add one wait until the transaction ends. */
    async countLocked(tx: Sql, firmUuid: string): Promise<number> {
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`sampling_rule ${firmUuid}`]);
      const [row] = await tx.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM sampling_rule WHERE firm_uuid = $1',
        [firmUuid],
      );
      return row!.count;
    },

    async save(tx: Sql, firmUuid: string, rule: SamplingRule): Promise<void> {
      await tx.query(
        `INSERT INTO sampling_rule (firm_uuid, uuid, name, query, filter, per, count, share, every, enabled_at, by_uuid, created_at,
           updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT (firm_uuid, uuid) DO UPDATE SET name = excluded.name, query = excluded.query, filter = excluded.filter,
           per = excluded.per, count = excluded.count, share = excluded.share, every = excluded.every,
           enabled_at = excluded.enabled_at, updated_at = excluded.updated_at`,
        [
          firmUuid,
          rule.uuid,
          rule.name,
          JSON.stringify(rule.filter),
          JSON.stringify(filterToStore(rule.meaning)),
          ...valuesOf(rule, 'per', 'count', 'share', 'every', 'enabled_at', 'by', 'created_at', 'updated_at'),
        ],
      );
    },

    /** With what it has chosen. */
    async remove(tx: Sql, { firmUuid, ruleUuid }: RuleId): Promise<void> {
      await tx.query('DELETE FROM sampled_call WHERE firm_uuid = $1 AND rule_uuid = $2', [firmUuid, ruleUuid]);
      await tx.query('DELETE FROM sample WHERE firm_uuid = $1 AND rule_uuid = $2', [firmUuid, ruleUuid]);
      await tx.query('DELETE FROM sampling_rule WHERE firm_uuid = $1 AND uuid = $2', [firmUuid, ruleUuid]);
    },

    /** The enabled rules of all firms, without those of which no period can have ended since they have chosen. */
    async enabled(now: Date): Promise<RuleId[]> {
      return db.query<RuleId>(
        `SELECT firm_uuid AS "firmUuid", uuid AS "ruleUuid" FROM sampling_rule
         WHERE enabled_at IS NOT NULL AND NOT EXISTS (
           SELECT FROM sample WHERE sample.firm_uuid = sampling_rule.firm_uuid AND rule_uuid = sampling_rule.uuid
             AND ends_at > $1::timestamptz - interval '22 hours')
         ORDER BY firm_uuid, uuid`,
        [now],
      );
    },

    /** Newest first. */
    async samples({ firmUuid, ruleUuid }: RuleId, page: Page): Promise<{ count: number; items: Sample[] }> {
      const matching = 'FROM sample WHERE firm_uuid = $1 AND rule_uuid = $2';
      const values = [firmUuid, ruleUuid];
      return readPage(db, { columns: SAMPLE_COLUMNS, matching, values, orderBy: 'begins_at DESC' }, page);
    },

    async newest(sql: Sql, firmUuid: string, ruleUuids: readonly string[]): Promise<Map<string, Sample>> {
      const rows = await sql.query<Sample & { rule_uuid: string }>(
        `SELECT DISTINCT ON (rule_uuid) rule_uuid, ${SAMPLE_COLUMNS} FROM sample
         WHERE firm_uuid = $1 AND rule_uuid = ANY($2) ORDER BY rule_uuid, begins_at DESC`,
        [firmUuid, ruleUuids],
      );
      return new Map(rows.map(({ rule_uuid, ...sample }) => [rule_uuid, sample]));
    },

    async boundaries(tx: Sql, every: SamplingRule['every'], timeZone: string, now: Date, after: Date | null) {
      const [row] = await tx.query<Boundaries>(
        `SELECT date_trunc($1, $2::timestamptz, $3) AS current,
           date_trunc($1, date_trunc($1, $2::timestamptz, $3) - interval '1 millisecond', $3) AS previous,
           (date_trunc($1, $4::timestamptz AT TIME ZONE $3) + ('1 ' || $1)::interval) AT TIME ZONE $3 AS following`,
        [every, now, timeZone, after],
      );
      return row!;
    },

    /**
     * Chooses by the rule among the calls that were completed in the period: within each group those with the lowest
     * SHA-256 of seed and uuid. False when it was done before.
     */
    async choose(
      tx: Sql,
      filtered: FilteredCalls,
      { uuid, per, count, share }: SamplingRule,
      sample: Omit<Sample, 'calls' | 'chosen'>,
    ): Promise<boolean> {
      const { firmUuid } = filtered;
      const { begins_at: begins, ends_at: ends, time_zone, seed, rule, at } = sample;
      const key = [firmUuid, uuid, begins];
      const added = await tx.query(
        `INSERT INTO sample (firm_uuid, rule_uuid, begins_at, ends_at, time_zone, seed, rule, at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING 1`,
        [...key, ends, time_zone, seed, JSON.stringify(rule), at],
      );
      if (added.length === 0) return false;
      const values = new Values();
      const from = matching(values, await carryOver.table(tx), filtered);
      const [firm, first, last] = [
        values.add(firmUuid, 'uuid'),
        values.add(begins, 'timestamptz'),
        values.add(ends, 'timestamptz'),
      ];
      const most =
        share === null ? values.add(count, 'int') : `ceil(${values.add(String(share), 'numeric')} * of_group)`;
      const [numbers] = await tx.query<{ calls: number; chosen: number }>(
        `WITH completed AS MATERIALIZED (
           SELECT c.uuid, ${GROUPS[per]} AS of FROM ${from} AND c.status = 'completed' AND c.uuid IN (
             SELECT call_uuid FROM analysis WHERE firm_uuid = ${firm} AND created_at >= ${first} AND created_at < ${last})),
         ranked AS (
           SELECT uuid, count(*) OVER (PARTITION BY of) AS of_group, row_number() OVER (
             PARTITION BY of ORDER BY sha256(convert_to(${values.add(seed, 'text')} || uuid::text, 'UTF8')), uuid) AS place
           FROM completed),
         chosen AS MATERIALIZED (SELECT uuid FROM ranked WHERE place <= ${most}),
         -- A call that is being erased is waited for, and is then not there.
         present AS (
           SELECT call.uuid FROM chosen JOIN call ON call.firm_uuid = ${firm} AND call.uuid = chosen.uuid
           ORDER BY call.uuid FOR KEY SHARE OF call),
         added AS (
           INSERT INTO sampled_call (firm_uuid, call_uuid, rule_uuid, begins_at, is_done)
           SELECT ${firm}, uuid, ${values.add(uuid, 'uuid')}, ${first}, false FROM present RETURNING 1)
         SELECT (SELECT count(*)::int FROM completed) AS calls, (SELECT count(*)::int FROM added) AS chosen`,
        values.all,
      );
      await tx.query(
        'UPDATE sample SET calls = $4, chosen = $5 WHERE firm_uuid = $1 AND rule_uuid = $2 AND begins_at = $3',
        [...key, numbers!.calls, numbers!.chosen],
      );
      // A statement of its own, which sees the reviews that the one before has waited for.
      await tx.query(
        `UPDATE sampled_call AS s SET is_done = true FROM call
         WHERE s.firm_uuid = $1 AND s.rule_uuid = $2 AND s.begins_at = $3 AND call.firm_uuid = s.firm_uuid
           AND call.uuid = s.call_uuid AND call.reviewed_at IS NOT NULL AND (
             SELECT done FROM review WHERE review.firm_uuid = s.firm_uuid AND review.call_uuid = s.call_uuid ORDER BY at DESC LIMIT 1)`,
        key,
      );
      return true;
    },
  };
}

function ruleOf(row: SamplingRule): SamplingRule {
  return { ...row, meaning: storedFilter(row.meaning) };
}

export type Sampling = ReturnType<typeof sampling>;
