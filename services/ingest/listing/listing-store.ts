import type { Database, Sql } from '@call-analysis/postgres';
import type { AnalysisBodies } from '../calls/analysis-body-store.ts';
import { CALL_COLUMNS, type CallRow } from '../calls/call-row.ts';
import { currentFacts } from '../calls/current-analysis-store.ts';
import { type CallQuery, type Count, filterToStore, type Position } from './call-filter.ts';
import type { CarryOver } from './carry-over-store.ts';
import { type FilteredCalls, type ListedTable, matching, pageOf, Values } from './filter-sql.ts';

/** Up to here counts are exact: counting that many calls takes some tens of milliseconds. */
const COUNTED = 100_000;
/**
 * Beyond, they are estimated from 1, 4 or 16 of 256 parts of the firm's calls, the first that has so many matches: with 5,000
 * the error is under 5 % in 999 of 1,000 cases. PostgreSQL's own estimates are wrong by half where filters depend on each other.
 */
const SAMPLES = [1, 4, 16];
const PARTS = 256;
const ENOUGH = 5_000;
const PART_OF_CALL = 'get_byte(uuid_send(c.uuid), 15)';

const CHANGED_CALLS = 5_000;

/** A call of a list, and its position in the list. */
interface ListedRow {
  readonly row: CallRow;
  readonly position: Position;
}

/** Lists of a firm's calls. */
export function listing(db: Database, bodies: AnalysisBodies, carryOver: CarryOver) {
  let key: Buffer | undefined;

  async function tableNow(): Promise<ListedTable> {
    await carryOver.ready();
    return carryOver.table();
  }

  return {
    /** The calls of a page, by one statement and so of one moment. */
    async page(query: CallQuery & FilteredCalls): Promise<ListedRow[]> {
      const values = new Values();
      const page = pageOf(values, await tableNow(), query);
      const rows = await db.query<CallRow & { position_start: Date; position_score: number }>(
        `WITH page AS MATERIALIZED (
           SELECT uuid AS position_uuid, start_time AS position_start, score AS position_score, row_number() OVER () AS place
           FROM (${page}) AS c)
         SELECT ${CALL_COLUMNS}, position_start, position_score
         FROM page JOIN call ON call.firm_uuid = ${values.add(query.firmUuid, 'uuid')} AND call.uuid = position_uuid
         ORDER BY place`,
        values.all,
      );
      const positions = rows.map(({ uuid, position_start: startTime, position_score: score }) => ({
        uuid,
        startTime,
        score,
      }));
      const calls = rows.map(({ position_start: _start, position_score: _score, ...row }) => row);
      const counted = await countAnswers(db, bodies, query.firmUuid, calls);
      return counted.map((row, at) => ({ row, position: positions[at]! }));
    },

    /** The positions of a page. */
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
      const isExact = isGroupAlone(query);
      const counted = await countIn(db, table, query, { limit: isExact ? null : COUNTED + 1, parts: PARTS });
      if (isExact || counted <= COUNTED) return { count: counted, isEstimate: false };
      for (const parts of SAMPLES) {
        const matched = await countIn(db, table, query, { limit: null, parts });
        if (matched < ENOUGH && parts !== SAMPLES.at(-1)) continue;
        return { count: Math.max(Math.round((matched * PARTS) / parts), counted), isEstimate: true };
      }
      throw new Error('there is no sample');
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

    /** The key that signs cursors. */
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

async function countIn(
  sql: Sql,
  table: ListedTable,
  query: FilteredCalls,
  { limit, parts }: { readonly limit: number | null; readonly parts: number },
): Promise<number> {
  const values = new Values();
  const from = matching(values, table, query);
  const sample = parts === PARTS ? '' : `AND ${PART_OF_CALL} < 16 AND ${PART_OF_CALL} < ${values.add(parts, 'int')}`;
  const [row] = await sql.query<{ calls: number }>(
    `SELECT count(*) AS calls FROM (SELECT 1 FROM ${from} ${sample} ${limit === null ? '' : `LIMIT ${values.add(limit, 'int')}`}) AS found`,
    values.all,
  );
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

export type Listing = ReturnType<typeof listing>;
