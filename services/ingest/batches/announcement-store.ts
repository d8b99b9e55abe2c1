import type { Database, Sql } from '@call-analysis/postgres';
import type { Failure } from '../calls/call-row.ts';
import { UPLOADED_TRANSCRIPT_COLUMNS, type UploadedTranscript } from '../calls/call-store.ts';
import type { ArchivedCall } from '../calls/recording-store.ts';
import { type EndedCall, failWhere } from '../results/result-store.ts';

/** A range of a batch's calls in the order of uuids, both ends inclusive. */
export interface CallRange {
  readonly first: string;
  readonly last: string;
}

/** The failure code of calls whose first event could not be published. */
export const NOT_ANNOUNCED = 'NOT_ANNOUNCED';

/**
 * The calls of a batch whose first event is still to be published. A batch is announced in ranges of calls; every
 * statement is limited to one firm and one range.
 */
export function announcements(db: Database) {
  return {
    /** Calls with a transcript that are queued in their first attempt, in the order of uuids. */
    async queuedTranscripts(
      sql: Sql,
      firmUuid: string,
      batchUuid: string,
      { first, last }: CallRange,
    ): Promise<UploadedTranscript[]> {
      return sql.query<UploadedTranscript>(
        `SELECT ${UPLOADED_TRANSCRIPT_COLUMNS}
         FROM call
         WHERE firm_uuid = $1 AND uuid BETWEEN $3 AND $4 AND batch_uuid = $2 AND status = 'queued' AND attempt = 1
           AND tagged_text IS NOT NULL
         ORDER BY uuid`,
        [firmUuid, batchUuid, first, last],
      );
    },

    /** Calls with a recording in the batch's archive that are queued in their first attempt, in the order of uuids. */
    async queuedRecordings(
      sql: Sql,
      firmUuid: string,
      batchUuid: string,
      { first, last }: CallRange,
    ): Promise<ArchivedCall[]> {
      return sql.query<ArchivedCall>(
        `SELECT call.uuid, call.attempt, recording.file_name, recording.entry, recording.turn AS priority
         FROM call JOIN recording ON recording.firm_uuid = call.firm_uuid AND recording.call_uuid = call.uuid
         WHERE call.firm_uuid = $1 AND call.uuid BETWEEN $3 AND $4 AND call.batch_uuid = $2 AND call.status = 'queued'
           AND call.attempt = 1 AND recording.object_key IS NULL AND recording.entry IS NOT NULL
         ORDER BY call.uuid`,
        [firmUuid, batchUuid, first, last],
      );
    },

    /** Fails every call that is still queued in its first attempt, and returns them. */
    async failQueued(
      tx: Sql,
      firmUuid: string,
      batchUuid: string,
      { first, last }: CallRange,
      failure: Failure,
      now: Date,
    ): Promise<EndedCall[]> {
      const which = `firm_uuid = $5 AND uuid BETWEEN $7 AND $8 AND batch_uuid = $6 AND status = 'queued' AND attempt = 1`;
      return failWhere(tx, failure, now, which, [firmUuid, batchUuid, first, last]);
    },

    /** Uuids of the calls that failed because they could not be announced. */
    async notAnnounced(firmUuid: string, batchUuid: string, { first, last }: CallRange): Promise<string[]> {
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid BETWEEN $3 AND $4 AND batch_uuid = $2
           AND status = 'failed' AND failure->>'code' = '${NOT_ANNOUNCED}' ORDER BY uuid`,
        [firmUuid, batchUuid, first, last],
      );
      return rows.map(({ uuid }) => uuid);
    },
  };
}

export type Announcements = ReturnType<typeof announcements>;
