import type { Database, Sql } from '@call-analysis/postgres';
import { type AnalysisBodies, currentFacts } from '../calls/analysis-body-store.ts';
import { CALL_COLUMNS, type CallRow } from '../calls/call-row.ts';
import { type CallQuery, type Count, filterToStore, type Position } from './call-filter.ts';
import type { CarryOver } from './carry-over-store.ts';
import {
  collectedPage,
  type FilteredCalls,
  type ListedTable,
  matching,
  pageOf,
  sortedPage,
  Values,
} from './filter-sql.ts';

/** A list of fewer calls is collected and sorted as a whole, and so counted; one with many more by mistake is not. */
const FEW = 28_000;
const COLLECTED = 40_000;
/**
 * How many more match is estimated from some of 256 parts of the firm's calls: from the first, or from as many as have enough by that.
 * PostgreSQL's own estimates are wrong by half where filters depend on each other.
 */
const SAMPLED = 48;
const ALL = 256;
/**
 * With so many matches in a small part, the error is under 5 % in all but one of 16,000 cases. The lists of a firm share the parts, and so
 * a part of the error.
 */
const ENOUGH = 6_400;

/**
 * How many calls are read in the order of the sort, before all that match are collected and sorted: at least so many, which are 0.1 s. A
 * topic, say, is not found among the newest calls while a large batch waits for its analysis.
 */
const READ_IN_ORDER = 250_000;
/**
 * Or so many, where to go on takes longer than to collect: calls of neighbouring scores are anywhere in the table, and those of a period
 * in one range of an index.
 */
const FEW_READ_IN_ORDER = 10_000;

const CHANGED_CALLS = 5_000;

interface ListedRow {
  readonly row: CallRow;
  readonly position: Position;
}

export function listing(db: Database, bodies: AnalysisBodies, carryOver: CarryOver, collected = COLLECTED) {
  let key: Buffer | undefined;

  async function tableNow(): Promise<ListedTable> {
    await carryOver.ready();
    return carryOver.table();
  }

  /** How many calls match; null where they are few. Of one batch or one campaign alone it is exact. */
  async function estimate(table: ListedTable, query: FilteredCalls): Promise<Count | null> {
    if (isGroupAlone(query)) return exactCount(table, query);
    const { operator_name, operator_id } = query.filter;
    // The sample has no names of operators. Their calls are read in an index of their own, which takes as long for all parts.
    const isOfOperator = operator_name !== undefined || operator_id !== undefined;
    let matched = 0;
    for (let from = 0, parts = isOfOperator ? SAMPLED : 1; ;) {
      matched += await countIn(db, table, query, range(from, parts));
      const expected = (matched * ALL) / parts;
      if (matched >= ENOUGH * (1 - parts / ALL)) return { count: Math.round(expected), isEstimate: true };
      if (expected < FEW || parts === SAMPLED) return null;
      // A tenth more, as the estimate may be too high. They are more parts than before, which had not enough.
      const wanted = 1.1 * ENOUGH;
      from = parts;
      parts = Math.min(SAMPLED, Math.ceil((ALL * wanted) / (expected + wanted)));
    }
  }

  async function exactCount(table: ListedTable, query: FilteredCalls): Promise<Count> {
    return { count: await countIn(db, table, query), isEstimate: false };
  }

  /** The calls of a page, and how many calls the first part of its statement has found; null if it has none. */
  async function pageBy(
    table: ListedTable,
    values: Values,
    firmUuid: string,
    parts: string,
    found: string,
  ): Promise<{ calls: ListedRow[]; found: number | null }> {
    const rows = await db.query<CallRow & { position_start: Date; position_score: number; found: number | null }>(
      `WITH ${parts}
       SELECT ${CALL_COLUMNS}, position_start, position_score, found
       FROM (SELECT ${found} AS found) AS counted
         LEFT JOIN (page JOIN call ON call.firm_uuid = ${values.add(firmUuid, 'uuid')} AND call.uuid = position_uuid
           CROSS JOIN LATERAL (SELECT start_time AS position_start, score AS position_score FROM ${table} AS listed
             WHERE listed.firm_uuid = call.firm_uuid AND listed.uuid = call.uuid) AS listed) ON true
       ORDER BY place`,
      values.all,
    );
    const listed = rows.filter(({ uuid }) => uuid !== null);
    const calls = listed.map(({ position_start: _start, position_score: _score, found: _found, ...row }) => row);
    const answered = await countAnswers(db, bodies, firmUuid, calls);
    const position = (row: (typeof listed)[number]): Position => ({
      uuid: row.uuid,
      startTime: row.position_start,
      score: row.position_score,
    });
    return { calls: answered.map((row, at) => ({ row, position: position(listed[at]!) })), found: rows[0]!.found };
  }

  return {
    /** The calls of a page, by one statement and so of one moment, and how many match. */
    async page(query: CallQuery & FilteredCalls): Promise<{ calls: readonly ListedRow[]; count: Count }> {
      const { firmUuid } = query;
      const table = await tableNow();
      // The index of words tells sooner whether few match.
      let count = query.words === null ? await estimate(table, query) : null;
      if (count === null) {
        const values = new Values();
        const list = collectedPage(values, table, query, collected);
        const { calls, found } = await pageBy(table, values, firmUuid, list.parts, list.count);
        if (found! <= collected) return { calls, count: { count: found!, isEstimate: false } };
        if (query.words !== null) count = await estimate(table, query);
        count ??= await exactCount(table, query);
      }
      const values = new Values();
      const list = sortedPage(values, table, query, readInOrder(query, count));
      return { calls: (await pageBy(table, values, firmUuid, list, 'NULL::bigint')).calls, count };
    },

    /** The positions of the next calls of a walk. */
    async positions(query: CallQuery & FilteredCalls): Promise<Position[]> {
      const values = new Values();
      const rows = await db.query<{ uuid: string; start_time: Date; score: number }>(
        pageOf(values, await tableNow(), query),
        values.all,
      );
      return rows.map(({ uuid, start_time: startTime, score }) => ({ uuid, startTime, score }));
    },

    /** How many calls match. Of one batch or one campaign alone it is exact, however many there are. */
    async count(query: FilteredCalls): Promise<Count> {
      const table = await tableNow();
      return (await estimate(table, query)) ?? exactCount(table, query);
    },

    /**
     * Refreshes what PostgreSQL plans by when half of the calls have changed since, as after the first large batches. Its own
     * schedule looks once a minute, while lists are asked for.
     */
    async refreshPlans(): Promise<void> {
      const rows = await db.query(
        `SELECT FROM pg_stat_user_tables WHERE relid = 'listed_call'::regclass
           AND n_mod_since_analyze > ${CHANGED_CALLS} + n_live_tup / 2`,
      );
      if (rows.length > 0) await db.query('ANALYZE listed_call');
    },

    /** Those of the calls that the firm has, the newest first: at most `limit`, of those before `after`. */
    async known(
      firmUuid: string,
      uuids: readonly string[],
      { after, limit }: { after: string | null; limit: number },
    ): Promise<string[]> {
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid = ANY($2) AND ($3::uuid IS NULL OR uuid < $3)
         ORDER BY uuid DESC LIMIT $4`,
        [firmUuid, uuids, after, limit],
      );
      return rows.map(({ uuid }) => uuid);
    },

    /** The stems of words in a text search configuration. A word without one is absent. */
    async stems(configuration: string, words: readonly string[]): Promise<Map<string, string>> {
      const rows = await db.query<{ word: string; stem: string | null }>(
        `SELECT word, (tsvector_to_array(to_tsvector($1::text::regconfig, word)))[1] AS stem FROM unnest($2::text[]) AS word`,
        [configuration, words],
      );
      return new Map(rows.flatMap(({ word, stem }) => (stem === null ? [] : [[word, stem] as const])));
    },

    async cursorKey(): Promise<Buffer> {
      key ??= (await db.query<{ key: Buffer }>('SELECT key FROM cursor_key'))[0]!.key;
      return key;
    },
  };
}

/** The calls of all firms. Counting a million takes a tenth of a second. */
export function countByStatus(sql: Sql): Promise<{ status: string; calls: number }[]> {
  return sql.query('SELECT status, count(*) AS calls FROM listed_call GROUP BY status ORDER BY status');
}

function isGroupAlone({ filter }: FilteredCalls): boolean {
  const [only, ...others] = Object.keys(filterToStore(filter));
  return others.length === 0 && (only === 'batch' || only === 'campaign');
}

/** How many calls match, in all parts or in some. */
async function countIn(sql: Sql, table: ListedTable, query: FilteredCalls, parts?: readonly number[]): Promise<number> {
  const values = new Values();
  const from = matching(values, table, query);
  // PostgreSQL sees that these parts are in the index of the sample: it plans for the values, which are not prepared.
  const sample = parts === undefined ? '' : `AND get_byte(uuid_send(c.uuid), 15) = ANY(${values.add(parts, 'int[]')})`;
  const [row] = await sql.query<{ calls: number }>(`SELECT count(*) AS calls FROM ${from} ${sample}`, values.all);
  return row!.calls;
}

/** Fills in how many questions are answered and how many need a review, for calls that an earlier release has completed. */
async function countAnswers(
  sql: Sql,
  bodies: AnalysisBodies,
  firmUuid: string,
  rows: readonly CallRow[],
): Promise<CallRow[]> {
  const uncounted = rows.filter((row) => row.answered === null && row.outcome === 'scored');
  const facts = await currentFacts(
    sql,
    bodies,
    firmUuid,
    uncounted.map(({ uuid }) => uuid),
  );
  return rows.map((row) => {
    const found = facts.get(row.uuid) ?? null;
    return found === null ? row : { ...row, needs_review: row.needs_review ?? found.needsReview, ...found.counts };
  });
}

function readInOrder({ sort, filter }: CallQuery, { count }: Count): number {
  const isPeriod = filter.started_from !== undefined || filter.started_to !== undefined;
  const isFew = sort.by === 'score' || (sort.by === 'created_at' && isPeriod);
  return isFew ? Math.min(count, FEW_READ_IN_ORDER) : Math.max(count, READ_IN_ORDER);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

export type Listing = ReturnType<typeof listing>;
