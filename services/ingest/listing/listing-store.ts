import type { Database } from '@call-analysis/postgres';
import { type Place, type Question, scoreRange } from '../search/index.ts';
import { CALL_COLUMNS, type CallRow } from '../calls/call-store.ts';

/** What lists of calls take from the catalogue itself; the rest is found by its index (search/). */
export function listing(db: Database) {
  let key: Buffer | undefined;

  return {
    /** Calls by uuid, those that are there. */
    async some(firmUuid: string, uuids: readonly string[]): Promise<Map<string, CallRow>> {
      if (uuids.length === 0) return new Map();
      const rows = await db.query<CallRow>(`SELECT ${CALL_COLUMNS} FROM call WHERE firm_uuid = $1 AND uuid = ANY($2)`, [
        firmUuid,
        uuids,
      ]);
      return new Map(rows.map((row) => [row.uuid, row]));
    },

    /** The places of all calls, in the order in which they were created: their uuids begin with the time. */
    async inOrder({ firmUuid, sort, after, offset, limit }: Question): Promise<Place[]> {
      const [than, way] = sort.isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM call WHERE firm_uuid = $1 AND ($2::uuid IS NULL OR uuid ${than} $2) ORDER BY uuid ${way} LIMIT $3 OFFSET $4`,
        [firmUuid, after?.uuid ?? null, limit, offset],
      );
      return rows.map(({ uuid }) => ({ uuid, startTime: new Date(0), score: 0 }));
    },

    /** The call that the partner knows by this id; null when there is none. */
    async ofPartner(firmUuid: string, partnerCallId: string): Promise<CallRow | null> {
      const rows = await db.query<CallRow>(
        `SELECT ${CALL_COLUMNS} FROM call WHERE firm_uuid = $1 AND partner_call_id = $2`,
        [firmUuid, partnerCallId],
      );
      return rows[0] ?? null;
    },

    /**
     * As far as the catalogue itself can tell without reading through more than `readThrough` calls: the places of the
     * newest, or oldest, calls that match, words apart. Null: it cannot.
     */
    async inOrderMatching(question: Question, readThrough: number): Promise<Place[] | null> {
      const { firmUuid, sort, after, filter, offset, limit } = question;
      const [than, way] = sort.isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
      const score = scoreRange(filter);
      const rows = await db.query<{ uuid: string | null; read: number }>(
        `WITH read AS MATERIALIZED (
           SELECT * FROM call WHERE firm_uuid = $1 AND ($2::uuid IS NULL OR uuid ${than} $2)
             AND ($3::uuid IS NULL OR (batch_uuid = $3
               AND uuid BETWEEN (SELECT first_call FROM batch WHERE firm_uuid = $1 AND batch.uuid = $3)
                 AND (SELECT last_call FROM batch WHERE firm_uuid = $1 AND batch.uuid = $3)))
           ORDER BY uuid ${way} LIMIT $4),
         matching AS (
           SELECT uuid FROM read
           WHERE ($5 = '{}' OR status = ANY($5::text[])) AND ($6 = '{}' OR outcome = ANY($6::text[]))
             AND ($7 = '{}' OR segment_type = ANY($7::text[])) AND ($8 = '{}' OR direction = ANY($8::text[]))
             AND ($9::text IS NULL OR operator_name = $9) AND ($10::text IS NULL OR operator_group_name = $10)
             AND ($11::uuid IS NULL OR campaign_uuid = $11) AND ($12::text IS NULL OR source = $12)
             AND ($13::timestamptz IS NULL OR start_time >= $13) AND ($14::timestamptz IS NULL OR start_time < $14)
             AND ($15::int IS NULL OR round(score * 10) BETWEEN $15 AND $16::int)
           ORDER BY uuid ${way} LIMIT $17 OFFSET $18)
         SELECT uuid, count::int AS read FROM (SELECT count(*) FROM read) AS counted LEFT JOIN matching ON true ORDER BY uuid ${way}`,
        [
          firmUuid,
          after?.uuid ?? null,
          filter.batch,
          readThrough,
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
        ],
      );
      const found = rows.flatMap(({ uuid }) => (uuid === null ? [] : [uuid]));
      if (found.length < limit && rows[0]!.read === readThrough) return null;
      return found.map((uuid) => ({ uuid, startTime: new Date(0), score: 0 }));
    },

    /** What cursors are signed with. */
    async cursorKey(): Promise<Buffer> {
      key ??= (await db.query<{ key: Buffer }>('SELECT key FROM cursor_key'))[0]!.key;
      return key;
    },
  };
}
