import type { Database, Sql } from '@call-analysis/postgres';
import { CALL_COLUMNS, type CallRow } from '../calls/call-row.ts';
import { parseTranscript } from '../intake/rows/transcript-format.ts';
import type { AnalysisBodies } from '../results/analysis-body-store.ts';
import { currentFacts } from '../results/current-facts-store.ts';
import { utterancesIn } from '../results/transcript-store.ts';
import { type CallFilter, type CallQuery, matchesFilter, type Position, scoreRange } from '../search/index.ts';

/** Reads for listings that go to the catalogue itself. All others go to the index in search/. */
export function listing(db: Database, bodies: AnalysisBodies) {
  let key: Buffer | undefined;

  return {
    /** Calls by uuid. Unknown uuids are absent. */
    async read(firmUuid: string, uuids: readonly string[]): Promise<Map<string, CallRow>> {
      if (uuids.length === 0) return new Map();
      const rows = await db.query<CallRow>(`SELECT ${CALL_COLUMNS} FROM call WHERE firm_uuid = $1 AND uuid = ANY($2)`, [
        firmUuid,
        uuids,
      ]);
      const counted = await countAnswers(db, bodies, firmUuid, rows);
      return new Map(counted.map((row) => [row.uuid, row]));
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

    /** The calls that match the filter now, by the catalogue's rows. */
    async matching(firmUuid: string, filter: CallFilter, uuids: readonly string[]): Promise<Set<string>> {
      const rows = await this.read(firmUuid, uuids);
      return new Set([...rows.values()].filter((row) => matchesFilter(filter, row)).map(({ uuid }) => uuid));
    },

    /** The positions of all calls in the order of creation: their uuids begin with the time. */
    async inOrder({ firmUuid, sort, after, offset, limit }: CallQuery): Promise<Position[]> {
      const [than, direction] = sort.isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM call WHERE firm_uuid = $1 AND ($2::uuid IS NULL OR uuid ${than} $2) ORDER BY uuid ${direction} LIMIT $3 OFFSET $4`,
        [firmUuid, after?.uuid ?? null, limit, offset],
      );
      return rows.map(({ uuid }) => ({ uuid, startTime: new Date(0), score: 0 }));
    },

    /** Null when there is none. */
    async findByPartnerCallId(firmUuid: string, partnerCallId: string): Promise<CallRow | null> {
      const rows = await db.query<CallRow>(
        `SELECT ${CALL_COLUMNS} FROM call WHERE firm_uuid = $1 AND partner_call_id = $2`,
        [firmUuid, partnerCallId],
      );
      return rows[0] === undefined ? null : (await countAnswers(db, bodies, firmUuid, rows))[0]!;
    },

    /** The texts of a call's utterances, in order. */
    async texts(firmUuid: string, uuid: string): Promise<readonly string[]> {
      const [row] = await db.query<{ tagged_text: string | null; body: Buffer | null }>(
        `SELECT tagged_text, body FROM call
           LEFT JOIN transcript ON transcript.firm_uuid = call.firm_uuid AND transcript.call_uuid = call.uuid
         WHERE call.firm_uuid = $1 AND call.uuid = $2`,
        [firmUuid, uuid],
      );
      if (row === undefined) return [];
      if (row.body !== null) return utterancesIn(row.body).map(({ text }) => text);
      const parsed = parseTranscript(row.tagged_text ?? '');
      return 'fault' in parsed ? [] : parsed.utterances.map(({ text }) => text);
    },

    /** The stems of words in a text search configuration. A word without one is absent. */
    async stems(configuration: string, words: readonly string[]): Promise<Map<string, string>> {
      const rows = await db.query<{ word: string; stem: string | null }>(
        `SELECT word, (tsvector_to_array(to_tsvector($1::text::regconfig, word)))[1] AS stem FROM unnest($2::text[]) AS word`,
        [configuration, words],
      );
      return new Map(rows.flatMap(({ word, stem }) => (stem === null ? [] : [[word, stem] as const])));
    },

    /**
     * The positions of the newest or oldest calls that match the filter, its words excepted. Null when the page is not
     * complete after reading `maxReads` calls.
     */
    async inOrderMatching(query: CallQuery, maxReads: number): Promise<Position[] | null> {
      const { firmUuid, sort, after, filter, offset, limit } = query;
      const [than, direction] = sort.isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
      const score = scoreRange(filter);
      const rows = await db.query<{ uuid: string | null; read: number }>(
        `WITH read AS MATERIALIZED (
           SELECT uuid, status, outcome, segment_type, direction, operator_name, operator_group_name, campaign_uuid, source,
             start_time, score, operator_id, language, client_phone_number, duration, reviewed_at
           FROM call WHERE firm_uuid = $1 AND ($2::uuid IS NULL OR uuid ${than} $2)
             AND ($3::uuid IS NULL OR (batch_uuid = $3
               AND uuid BETWEEN (SELECT first_call FROM batch WHERE firm_uuid = $1 AND batch.uuid = $3)
                 AND (SELECT last_call FROM batch WHERE firm_uuid = $1 AND batch.uuid = $3)))
           ORDER BY uuid ${direction} LIMIT $4),
         matching AS (
           SELECT uuid FROM read
           WHERE ($5 = '{}' OR status = ANY($5::text[])) AND ($6 = '{}' OR outcome = ANY($6::text[]))
             AND ($7 = '{}' OR segment_type = ANY($7::text[])) AND ($8 = '{}' OR direction = ANY($8::text[]))
             AND ($9::text IS NULL OR lower(operator_name) = lower($9)) AND ($10::text IS NULL OR lower(operator_group_name) = lower($10))
             AND ($11::uuid IS NULL OR campaign_uuid = $11) AND ($12::text IS NULL OR source = $12)
             AND ($13::timestamptz IS NULL OR start_time >= $13) AND ($14::timestamptz IS NULL OR start_time < $14)
             AND ($15::int IS NULL OR round(score * 10) BETWEEN $15 AND $16::int)
             AND ($19::text IS NULL OR operator_id = $19) AND ($20::text IS NULL OR language = $20)
             AND ($21::text IS NULL OR regexp_replace(client_phone_number, '\\D', '', 'g') = regexp_replace($21, '\\D', '', 'g'))
             AND ($22::float8 IS NULL OR duration >= $22) AND ($23::float8 IS NULL OR duration <= $23)
             AND ($24::boolean IS NULL OR (reviewed_at IS NOT NULL) = $24)
           ORDER BY uuid ${direction} LIMIT $17 OFFSET $18)
         SELECT uuid, count::int AS read FROM (SELECT count(*) FROM read) AS counted LEFT JOIN matching ON true ORDER BY uuid ${direction}`,
        [
          firmUuid,
          after?.uuid ?? null,
          filter.batch,
          maxReads,
          filter.status,
          filter.outcome,
          filter.segmentType,
          filter.direction,
          filter.operatorName,
          filter.operatorGroupName,
          filter.campaign,
          filter.source,
          filter.startedFrom,
          filter.startedTo,
          score?.low ?? null,
          score?.high ?? null,
          limit,
          offset,
          filter.operatorId,
          filter.language,
          filter.clientPhoneNumber,
          filter.durationMin,
          filter.durationMax,
          filter.reviewed,
        ],
      );
      const found = rows.flatMap(({ uuid }) => (uuid === null ? [] : [uuid]));
      if (found.length < limit && rows[0]!.read === maxReads) return null;
      return found.map((uuid) => ({ uuid, startTime: new Date(0), score: 0 }));
    },

    /** The key that signs cursors. */
    async cursorKey(): Promise<Buffer> {
      key ??= (await db.query<{ key: Buffer }>('SELECT key FROM cursor_key'))[0]!.key;
      return key;
    },
  };
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
