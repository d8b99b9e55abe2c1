import { countAnswers, type ReviewedAnalysis } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import type { AnalysisBodies } from './analysis-body-store.ts';
import { CALL_COLUMNS, CALL_VALUES, type CallRow, CURRENT_ANALYSIS, UNFINISHED_SQL } from './call-row.ts';

/** What is announced of a call together with its recording or transcript. */
export type DescribedCall = Pick<
  CallRow,
  'uuid' | 'attempt' | 'segment_type' | 'operator_name' | 'direction' | 'start_time'
>;

/** An uploaded transcript with what its TranscriptReady event needs. */
export interface UploadedTranscript extends DescribedCall, Pick<CallRow, 'duration' | 'language'> {
  readonly tagged_text: string;
}

export const UPLOADED_TRANSCRIPT_COLUMNS =
  'uuid, attempt, duration, segment_type, operator_name, direction, start_time, language, tagged_text';

/**
 * A condition in SQL for a row of `table`: its call is one that somebody sees. `seen` is the placeholder of the operator ids
 * of those calls, null for all.
 */
export function seesCallOf(table: string, seen: string): string {
  return `(${seen}::text[] IS NULL OR EXISTS (SELECT FROM call WHERE call.firm_uuid = ${table}.firm_uuid
    AND call.uuid = ${table}.call_uuid AND call.operator_id = ANY(${seen}::text[])))`;
}

/**
 * The catalogue of calls. Every statement is limited to one firm: the firm is the first parameter and the first
 * condition.
 */
export function calls(db: Database, stored: AnalysisBodies) {
  async function one(sql: Sql, firmUuid: string, uuid: string, lock: '' | 'FOR UPDATE' | 'FOR SHARE') {
    return sql.query<CallRow>(`SELECT ${CALL_COLUMNS} FROM call WHERE firm_uuid = $1 AND uuid = $2 ${lock}`, [
      firmUuid,
      uuid,
    ]);
  }

  return {
    async get(firmUuid: string, uuid: string): Promise<CallRow> {
      return found(await one(db, firmUuid, uuid, ''));
    },

    /** Whether the firm has the call, and one of the operator ids is its own; null is any. */
    async isSeen(firmUuid: string, uuid: string, operatorIds: readonly string[] | null): Promise<boolean> {
      const rows = await db.query(
        `SELECT FROM call WHERE firm_uuid = $1 AND uuid = $2 AND ($3::text[] IS NULL OR operator_id = ANY($3::text[]))`,
        [firmUuid, uuid, operatorIds],
      );
      return rows.length > 0;
    },

    /** Those of the calls that failed with this code, in the order of uuids. */
    async failedWith(firmUuid: string, uuids: readonly string[], code: string): Promise<string[]> {
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM call
         WHERE firm_uuid = $1 AND uuid = ANY($2::uuid[]) AND status = 'failed' AND failure->>'code' = $3 ORDER BY uuid`,
        [firmUuid, uuids, code],
      );
      return rows.map(({ uuid }) => uuid);
    },

    /** How long the transcripts of these calls are together, in bytes of UTF-8; of recordings about. */
    async textBytes(firmUuid: string, uuids: readonly string[]): Promise<number> {
      const [row] = await db.query<{ bytes: number }>(
        `SELECT coalesce(sum(coalesce(octet_length(tagged_text), 0) + 3 * coalesce(octet_length(body), 0)), 0)::float8 AS bytes
         FROM call LEFT JOIN transcript ON transcript.firm_uuid = call.firm_uuid AND transcript.call_uuid = call.uuid
         WHERE call.firm_uuid = $1 AND call.uuid = ANY($2)`,
        [firmUuid, uuids],
      );
      return row!.bytes;
    },

    /** Locks the call until the transaction ends, so that two actions on one call run one after the other. */
    async lock(tx: Sql, firmUuid: string, uuid: string): Promise<CallRow> {
      return found(await one(tx, firmUuid, uuid, 'FOR UPDATE'));
    },

    /** Keeps the call from changes until the transaction ends. Null for an unknown call. */
    async share(tx: Sql, firmUuid: string, uuid: string): Promise<CallRow | null> {
      return (await one(tx, firmUuid, uuid, 'FOR SHARE'))[0] ?? null;
    },

    /**
     * A call and its analyses with their reviews, newest first, of which the newest is the current one, or none. All are read by one
     * statement, so the call's score is that of the current one. It has a number of `questions` only with a current one.
     */
    async withAnalyses(
      firmUuid: string,
      uuid: string,
    ): Promise<{ call: CallRow; analyses: ReviewedAnalysis[]; current: ReviewedAnalysis | null }> {
      const rows = await db.query<CallRow & { current: string | null; bodies: Buffer[]; uuids: string[] }>(
        `SELECT ${CALL_COLUMNS}, ${CURRENT_ANALYSIS} AS current, ARRAY(
           SELECT coalesce(review.body, analysis.body) FROM analysis
             LEFT JOIN review ON review.firm_uuid = analysis.firm_uuid AND review.call_uuid = analysis.call_uuid
               AND review.analysis_uuid = analysis.uuid
           WHERE analysis.firm_uuid = call.firm_uuid AND analysis.call_uuid = call.uuid
           ORDER BY analysis.created_at DESC, analysis.uuid DESC) AS bodies, ARRAY(
           SELECT analysis.uuid FROM analysis WHERE analysis.firm_uuid = call.firm_uuid AND call_uuid = call.uuid
           ORDER BY analysis.created_at DESC, analysis.uuid DESC)::text[] AS uuids
         FROM call WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid],
      );
      const { current: currentUuid, bodies, uuids, ...call } = found(rows);
      const analyses = await stored.read(
        db,
        bodies.map((body, index) => ({ body, uuid: uuids[index]! })),
      );
      const current = analyses[uuids.indexOf(`${currentUuid}`)] ?? null;
      const isCounted = call.answered !== null || current === null;
      return { call: isCounted ? call : { ...call, ...countAnswers(current.sections) }, analyses, current };
    },

    /**
     * Changes with anything that is shown of a call, and every half an hour, because a recording's URL expires. Reads neither
     * the transcript nor the bodies of analyses. Null for an unknown call.
     */
    async version(firmUuid: string, uuid: string): Promise<string | null> {
      const [row] = await db.query<{ version: string }>(
        `SELECT md5(concat_ws(' ', ROW(${CALL_VALUES})::text, floor(extract(epoch FROM now()) / 1800),
           (SELECT string_agg(concat_ws(' ', uuid, review_log->>'revision'), ' ' ORDER BY uuid) FROM analysis
            WHERE analysis.firm_uuid = call.firm_uuid AND call_uuid = call.uuid),
           (SELECT concat_ws(' ', object_key, left_role) FROM recording
            WHERE recording.firm_uuid = call.firm_uuid AND call_uuid = call.uuid))) AS version
         FROM call WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid],
      );
      return row?.version ?? null;
    },

    async uploadedTranscript(tx: Sql, firmUuid: string, uuid: string): Promise<UploadedTranscript> {
      const rows = await tx.query<UploadedTranscript>(
        `SELECT ${UPLOADED_TRANSCRIPT_COLUMNS}
         FROM call WHERE firm_uuid = $1 AND uuid = $2 AND tagged_text IS NOT NULL`,
        [firmUuid, uuid],
      );
      return found(rows);
    },

    /** The subset of the uuids that are calls of the firm. */
    async known(firmUuid: string, uuids: readonly string[]): Promise<string[]> {
      const rows = await db.query<{ uuid: string }>('SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid = ANY($2)', [
        firmUuid,
        uuids,
      ]);
      return rows.map(({ uuid }) => uuid);
    },

    /** Notes that the recording of a queued call was extracted from its archive. `duration` is in seconds. */
    async recordingExtracted(tx: Sql, firmUuid: string, uuid: string, duration: number, now: Date): Promise<void> {
      await tx.query(
        `UPDATE call SET duration = $3, updated_at = $4,
           history = history || jsonb_build_object('status', status, 'at', $5::text, 'detail', 'recording extracted from its archive')
         WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid, duration, now, now.toISOString()],
      );
    },

    /**
     * From the first stage or from the analysis. Earlier analyses are kept. `detail` goes into the history, and so does the newest
     * analysis where it is `outdated` from now on.
     */
    async startAttempt(
      tx: Sql,
      firmUuid: string,
      uuid: string,
      status: 'queued' | 'analyzing',
      detail: string,
      outdated: string | null = null,
    ): Promise<CallRow> {
      const now = new Date();
      const rows = await tx.query<CallRow>(
        `UPDATE call SET status = $5::text, attempt = attempt + 1, failure = NULL, outcome = NULL, updated_at = $3, ended_at = NULL,
           history = history || jsonb_strip_nulls(
             jsonb_build_object('status', $5::text, 'at', $4::text, 'detail', $6::text, 'outdated', $7::uuid))
         WHERE firm_uuid = $1 AND uuid = $2 RETURNING ${CALL_COLUMNS}`,
        [firmUuid, uuid, now, now.toISOString(), status, detail, outdated],
      );
      return found(rows);
    },

    /**
     * Whether the packed transcript of a call may still be read: by a service that is processing the call, or by this
     * one when the analysis arrived before the transcript. Not once retention has removed the transcript.
     */
    async needsPackedTranscript(firmUuid: string, uuid: string): Promise<boolean> {
      const rows = await db.query(
        `SELECT 1 FROM call WHERE firm_uuid = $1 AND uuid = $2 AND (status IN ${UNFINISHED_SQL}
           OR (source = 'audio' AND status = 'completed' AND NOT history @> '[{"removed": "transcript"}]' AND NOT EXISTS (
             SELECT FROM transcript WHERE transcript.firm_uuid = $1 AND transcript.call_uuid = $2)))`,
        [firmUuid, uuid],
      );
      return rows.length > 0;
    },
  };
}

function found<Row>(rows: readonly Row[]): Row {
  if (rows[0] === undefined) throw notFound('call');
  return rows[0];
}

export type Calls = ReturnType<typeof calls>;
