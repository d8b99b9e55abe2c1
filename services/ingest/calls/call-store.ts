import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { notFound } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import type { CallRecord } from '../intake/rows/call-record.ts';
import { noteNewCalls } from '../search/indexer/index-entries.ts';
import { UNFINISHED_SQL, unfinishedBy } from './call-status.ts';

export interface Failure {
  readonly stage: string;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly attempts: number;
}

export interface HistoryEntry {
  readonly status: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly detail: string | null;
}

/** A row of the catalogue, as PostgreSQL hands it out. */
export interface CallRow {
  readonly uuid: string;
  readonly source: 'audio' | 'transcription';
  readonly status: string;
  readonly attempt: number;
  readonly outcome: string | null;
  readonly partner_call_id: string | null;
  readonly client_phone_number: string;
  readonly operator_name: string;
  readonly operator_id: string | null;
  readonly operator_group_name: string | null;
  readonly direction: string | null;
  readonly segment_type: string;
  readonly start_time: Date;
  readonly duration: number | null;
  readonly disconnect_reason: string | null;
  readonly language: string | null;
  /** Who heard the recording; null for an uploaded transcript. */
  readonly engine: string | null;
  readonly score: number | null;
  readonly batch_uuid: string | null;
  readonly campaign_uuid: string | null;
  readonly failure: Failure | null;
  readonly history: HistoryEntry[];
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Why calls failed of which nobody could be told. */
export const NOT_ANNOUNCED = 'NOT_ANNOUNCED';

const fast = { level: 1 };

/** Of the table, as a CallRow has them. */
export const CALL_COLUMNS = `uuid, source, status, attempt, outcome, partner_call_id, client_phone_number, operator_name, operator_id,
  operator_group_name, direction, segment_type, start_time, duration, disconnect_reason, language, engine, score, batch_uuid,
  campaign_uuid, failure, history, created_at, updated_at`;

export interface RecognizableCall {
  readonly firmUuid: string;
  readonly partnerCallId: string | null;
  readonly phone: string;
  readonly startTime: Date;
  /** An uploaded transcript, as it came. */
  readonly text: string | null;
  /** Of its recording. */
  readonly fileName: string | null;
}

/** A call that stands where another was to be added. */
export interface CallThere {
  readonly uuid: string;
  readonly source: string;
  readonly status: string;
  readonly failure: Failure | null;
  /** The sum of its recording; null where none is stored. */
  readonly sha256: Buffer | null;
}

/** What is needed to announce a call, or to announce it again. */
export interface WaitingCall {
  readonly uuid: string;
  readonly attempt: number;
  readonly duration: number | null;
  readonly segment_type: string;
  readonly language: string | null;
  readonly tagged_text: string;
}

export interface AnalyzedCall {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly at: Date;
  readonly outcome: string;
  readonly language: string | null;
  readonly score: number | null;
  readonly analysisUuid: string;
  /** JSON text, null when there was nothing to analyse. */
  readonly body: string | null;
}

/**
 * The catalogue of calls. Reading is always in the name of one firm: the firm is the first parameter and the first
 * condition of every question.
 */
export function calls(db: Database) {
  async function one(sql: Sql, firmUuid: string, uuid: string, lock: boolean): Promise<CallRow> {
    const rows = await sql.query<CallRow>(
      `SELECT ${CALL_COLUMNS} FROM call WHERE firm_uuid = $1 AND uuid = $2 ${lock ? 'FOR UPDATE' : ''}`,
      [firmUuid, uuid],
    );
    if (rows[0] === undefined) throw notFound('call');
    return rows[0];
  }

  return {
    async get(firmUuid: string, uuid: string): Promise<CallRow> {
      return one(db, firmUuid, uuid, false);
    },

    /** A call and its analyses as JSON texts, newest first; of one moment, so that its score is that of the newest. */
    async withAnalyses(firmUuid: string, uuid: string): Promise<{ call: CallRow; analyses: string[] }> {
      const rows = await db.query<CallRow & { bodies: Buffer[] }>(
        `SELECT ${CALL_COLUMNS}, ARRAY(
           SELECT body FROM analysis WHERE analysis.firm_uuid = call.firm_uuid AND call_uuid = call.uuid
           ORDER BY analysis.created_at DESC, analysis.uuid DESC) AS bodies
         FROM call WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid],
      );
      if (rows[0] === undefined) throw notFound('call');
      const { bodies, ...call } = rows[0];
      return { call, analyses: bodies.map((body) => inflateRawSync(body).toString()) };
    },

    /**
     * Whether somebody may still fetch the transcript that was sent by key: a service that is working on the call, or
     * this one, which has heard of its analysis but not yet of what was said.
     */
    async needsSentTranscript(firmUuid: string, uuid: string): Promise<boolean> {
      const rows = await db.query(
        `SELECT 1 FROM call WHERE firm_uuid = $1 AND uuid = $2 AND (status IN ${UNFINISHED_SQL}
           OR (source = 'audio' AND status = 'completed' AND NOT EXISTS (
             SELECT FROM transcript WHERE transcript.firm_uuid = $1 AND transcript.call_uuid = $2)))`,
        [firmUuid, uuid],
      );
      return rows.length > 0;
    },

    /** Those of the uuids that are calls of the firm. */
    async known(firmUuid: string, uuids: readonly string[]): Promise<string[]> {
      const rows = await db.query<{ uuid: string }>('SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid = ANY($2)', [
        firmUuid,
        uuids,
      ]);
      return rows.map(({ uuid }) => uuid);
    },

    /** Adds a call that came by itself. False, and nothing done, when the firm has its uuid or its partner_call_id. */
    async addRecorded(
      tx: Sql,
      call: { firmUuid: string; uuid: string; campaignUuid: string | null; duration: number },
      record: CallRecord,
    ): Promise<boolean> {
      const rows = await tx.query(
        `INSERT INTO call (firm_uuid, uuid, source, campaign_uuid, duration, partner_call_id, client_phone_number,
           operator_name, operator_group_name, direction, segment_type, start_time, disconnect_reason, created_at)
         VALUES ($1, $2, 'audio', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, coalesce($13, now())) ON CONFLICT DO NOTHING RETURNING 1`,
        [
          call.firmUuid,
          call.uuid,
          call.campaignUuid,
          call.duration,
          record.partnerCallId,
          record.clientPhoneNumber,
          record.operatorName,
          record.operatorGroupName,
          record.direction,
          record.segmentType,
          new Date(record.startedMs).toISOString(),
          record.disconnectReason,
          createdAt(call.uuid),
        ],
      );
      if (rows.length > 0) await noteNewCalls(tx, call.firmUuid, call.uuid, call.uuid, 1);
      return rows.length > 0;
    },

    /** Which call has this uuid, or else this partner_call_id. */
    async alreadyThere(
      tx: Sql,
      firmUuid: string,
      uuid: string,
      partnerCallId: string | null,
    ): Promise<CallThere | null> {
      const rows = await tx.query<CallThere>(
        `SELECT uuid, source, status, failure, sha256 FROM call
           LEFT JOIN recording ON recording.firm_uuid = call.firm_uuid AND recording.call_uuid = call.uuid
         WHERE call.firm_uuid = $1 AND (call.uuid = $2 OR call.partner_call_id = $3)
         ORDER BY call.uuid = $2 DESC LIMIT 1`,
        [firmUuid, uuid, partnerCallId],
      );
      return rows[0] ?? null;
    },

    /** Of the calls that have one of these partner_call_ids, how many failed for good or were canceled. */
    async countEnded(tx: Sql, firmUuid: string, partnerCallIds: readonly string[]): Promise<number> {
      const [found] = await tx.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM call WHERE firm_uuid = $1 AND partner_call_id = ANY($2)
           AND (status = 'canceled' OR (status = 'failed' AND NOT failure @> '{"retryable": true}'))`,
        [firmUuid, partnerCallIds],
      );
      return found!.count;
    },

    /** The recording of a waiting call has come out of its archive. */
    async recorded(tx: Sql, firmUuid: string, uuid: string, duration: number, now: Date): Promise<void> {
      await tx.query(
        `UPDATE call SET duration = $3, updated_at = $4,
           history = history || jsonb_build_object('status', status, 'at', $5::text, 'detail', 'recording taken out of its archive')
         WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid, duration, now, now.toISOString()],
      );
    },

    /** Locked until the transaction ends, so that two deeds on one call come one after the other. */
    async lock(tx: Sql, firmUuid: string, uuid: string): Promise<CallRow> {
      return one(tx, firmUuid, uuid, true);
    },

    /** An uploaded transcript as it came; null when the call has none. */
    async taggedTextOf(firmUuid: string, uuid: string): Promise<string | null> {
      const rows = await db.query<{ tagged_text: string | null }>(
        'SELECT tagged_text FROM call WHERE firm_uuid = $1 AND uuid = $2',
        [firmUuid, uuid],
      );
      return rows[0]?.tagged_text ?? null;
    },

    /** What a copy of the call can be told by. */
    async toRecognize(firmUuid: string, uuid: string): Promise<RecognizableCall> {
      const rows = await db.query<RecognizableCall>(
        `SELECT call.firm_uuid AS "firmUuid", partner_call_id AS "partnerCallId", client_phone_number AS phone,
           start_time AS "startTime", tagged_text AS text, file_name AS "fileName"
         FROM call LEFT JOIN recording ON recording.firm_uuid = call.firm_uuid AND recording.call_uuid = call.uuid
         WHERE call.firm_uuid = $1 AND call.uuid = $2`,
        [firmUuid, uuid],
      );
      if (rows[0] === undefined) throw notFound('call');
      return rows[0];
    },

    /** Calls of a batch that still wait in their first attempt, from uuid `first` to uuid `last`. */
    async waiting(
      sql: Sql,
      firmUuid: string,
      batchUuid: string,
      { first, last }: { first: string; last: string },
    ): Promise<WaitingCall[]> {
      return sql.query<WaitingCall>(
        `SELECT uuid, attempt, duration, segment_type, language, tagged_text
         FROM call
         WHERE firm_uuid = $1 AND uuid BETWEEN $3 AND $4 AND batch_uuid = $2 AND status = 'queued' AND attempt = 1
           AND tagged_text IS NOT NULL
         ORDER BY uuid`,
        [firmUuid, batchUuid, first, last],
      );
    },

    async waitingOne(tx: Sql, firmUuid: string, uuid: string): Promise<WaitingCall> {
      const rows = await tx.query<WaitingCall>(
        `SELECT uuid, attempt, duration, segment_type, language, tagged_text
         FROM call WHERE firm_uuid = $1 AND uuid = $2 AND tagged_text IS NOT NULL`,
        [firmUuid, uuid],
      );
      if (rows[0] === undefined) throw notFound('call');
      return rows[0];
    },

    /** Back to the start, as a new attempt. */
    async requeue(tx: Sql, firmUuid: string, uuid: string, now: Date): Promise<CallRow> {
      const rows = await tx.query<CallRow>(
        `UPDATE call SET status = 'queued', attempt = attempt + 1, failure = NULL, outcome = NULL, updated_at = $3,
           history = history || jsonb_build_object('status', 'queued', 'at', $4::text, 'detail', 'retried')
         WHERE firm_uuid = $1 AND uuid = $2 RETURNING ${CALL_COLUMNS}`,
        [firmUuid, uuid, now, now.toISOString()],
      );
      if (rows[0] === undefined) throw notFound('call');
      return rows[0];
    },

    /** Back to being analysed, as a new attempt; earlier analyses stay. */
    async reopen(tx: Sql, firmUuid: string, uuid: string, now: Date): Promise<CallRow> {
      const rows = await tx.query<CallRow>(
        `UPDATE call SET status = 'analyzing', attempt = attempt + 1, failure = NULL, outcome = NULL, updated_at = $3,
           history = history || jsonb_build_object('status', 'analyzing', 'at', $4::text, 'detail', 'asked for once more')
         WHERE firm_uuid = $1 AND uuid = $2 RETURNING ${CALL_COLUMNS}`,
        [firmUuid, uuid, now, now.toISOString()],
      );
      if (rows[0] === undefined) throw notFound('call');
      return rows[0];
    },

    /**
     * Completes calls with their analyses. A call that has ended, or that a later attempt has begun, stays as it is:
     * status only moves forward within an attempt. An analysis stands behind those of earlier attempts, whatever the
     * clock of who made it says: the score of the call is that of the newest.
     */
    async complete(tx: Sql, results: readonly AnalyzedCall[]): Promise<void> {
      await tx.query(
        `WITH result AS (
           SELECT * FROM unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[], $5::text[], $6::float8[],
             $7::uuid[], $8::bytea[], $9::uuid[])
             AS r (call_uuid, attempt, at, outcome, language, score, analysis_uuid, body, firm_uuid)),
         completed AS (
           UPDATE call SET status = 'completed', outcome = result.outcome, failure = NULL, score = result.score,
             language = coalesce(call.language, result.language), updated_at = greatest(result.at, created_at),
             history = history || jsonb_build_object('status', 'completed', 'at',
               to_char(greatest(result.at, created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'detail', NULL)
           FROM result
           WHERE call.firm_uuid = result.firm_uuid AND call.uuid = result.call_uuid AND call.attempt = result.attempt
             AND call.status IN ${UNFINISHED_SQL}
           RETURNING call.uuid, call.firm_uuid, call.attempt, result.analysis_uuid, result.body, result.at)
         INSERT INTO analysis (uuid, call_uuid, firm_uuid, body, created_at)
         SELECT analysis_uuid, uuid, firm_uuid, body, CASE WHEN attempt = 1 THEN at ELSE greatest(at, (
           SELECT max(created_at) + interval '1 millisecond' FROM analysis AS earlier
           WHERE earlier.firm_uuid = completed.firm_uuid AND earlier.call_uuid = completed.uuid)) END
         FROM completed WHERE body IS NOT NULL
         ON CONFLICT (uuid) DO NOTHING`,
        [
          results.map((each) => each.callUuid),
          results.map((each) => each.attempt),
          results.map((each) => each.at),
          results.map((each) => each.outcome),
          results.map((each) => each.language),
          results.map((each) => each.score),
          results.map((each) => each.analysisUuid),
          results.map(({ body }) => (body === null ? null : deflateRawSync(body, fast))),
          results.map((each) => each.firmUuid),
        ],
      );
    },

    /**
     * Cancels those of the calls that are queued, and returns them. One that another transaction is just changing is left
     * out: waiting for it, the two could wait for each other.
     */
    async cancel(
      tx: Sql,
      { firmUuid, uuids }: { firmUuid: string; uuids: readonly string[] },
      now: Date,
    ): Promise<{ uuid: string; source: string }[]> {
      return tx.query<{ uuid: string; source: string }>(
        `UPDATE call SET status = 'canceled', updated_at = greatest(updated_at, $3),
           history = history || jsonb_build_object('status', 'canceled', 'at', $4::text, 'detail', 'its campaign was canceled')
         WHERE firm_uuid = $1 AND uuid = ANY(ARRAY(
           SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid = ANY($2) AND status = 'queued' FOR UPDATE SKIP LOCKED))
         RETURNING uuid, source`,
        [firmUuid, uuids, now, now.toISOString()],
      );
    },

    /** Fails every call of a batch that still waits in its first attempt, from uuid `first` to uuid `last`. */
    async failWaiting(
      firmUuid: string,
      batchUuid: string,
      { first, last }: { first: string; last: string },
      failure: Failure,
      now: Date,
    ): Promise<void> {
      const which = `firm_uuid = $5 AND uuid BETWEEN $7 AND $8 AND batch_uuid = $6 AND status = 'queued' AND attempt = 1`;
      await fail(db, failure, now, which, [firmUuid, batchUuid, first, last]);
    },

    /** Uuids of a batch's calls, from `first` to `last`, that failed before anybody was told of them. */
    async unannounced(
      firmUuid: string,
      batchUuid: string,
      { first, last }: { first: string; last: string },
    ): Promise<string[]> {
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid BETWEEN $3 AND $4 AND batch_uuid = $2
           AND status = 'failed' AND failure->>'code' = '${NOT_ANNOUNCED}' ORDER BY uuid`,
        [firmUuid, batchUuid, first, last],
      );
      return rows.map(({ uuid }) => uuid);
    },

    /** Nothing happens when the call has ended, is past the stage, or in another attempt. */
    async fail(
      tx: Sql,
      { firmUuid, callUuid, attempt }: { firmUuid: string; callUuid: string; attempt: number },
      failure: Failure,
      now: Date,
    ): Promise<void> {
      const which = 'firm_uuid = $5 AND uuid = $6 AND attempt = $7 AND status = ANY($8)';
      await fail(tx, failure, now, which, [firmUuid, callUuid, attempt, unfinishedBy(failure.stage)]);
    },
  };
}

/** The time that a uuid of version 7 begins with, so that calls stand in the order of both; null for another uuid. */
function createdAt(uuid: string): Date | null {
  return uuid[14] === '7' ? new Date(Number.parseInt(uuid.slice(0, 13).replace('-', ''), 16)) : null;
}

/** `which` is a condition whose parameters begin with $5. */
async function fail(sql: Sql, failure: Failure, now: Date, which: string, values: readonly unknown[]): Promise<void> {
  await sql.query(
    `UPDATE call SET status = 'failed', failure = $1, updated_at = greatest($2, created_at),
       history = history || jsonb_build_object('status', 'failed', 'at', $3::text, 'detail', $4::text)
     WHERE ${which}`,
    [JSON.stringify(failure), now, now.toISOString(), `${failure.stage}: ${failure.code}`, ...values],
  );
}

export type Calls = ReturnType<typeof calls>;
