import { Fault } from '@call-analysis/fault';
import { type Database, type Sql, sqlState, type Transaction, valuesOf } from '@call-analysis/postgres';
import type { CallRow } from '../calls/call-row.ts';
import type { CallRecord } from './rows/call-fields.ts';

/** A call that the firm already has under the uuid or partner_call_id of a new one. */
export interface ExistingCall extends Pick<CallRow, 'uuid' | 'source' | 'status' | 'failure'> {
  /** Checksum of its recording; null when none is stored. */
  readonly sha256: Buffer | null;
}

const LOCK_TIMEOUT_MS = 2_000;
const lockNotAvailable = '55P03';

export function callLocked(cause?: unknown): Fault {
  return new Fault('unavailable', 'UNAVAILABLE', 'Another upload of this call is in progress. Retry.', { cause });
}

/**
 * A transaction that gives up with Fault UNAVAILABLE when a lock is not free within two seconds. A batch upload
 * may hold a partner_call_id for minutes, and a single upload of it must not hold a connection for that long.
 */
export async function transactionWithLockTimeout<Result>(
  db: Database,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  try {
    return await db.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      return work(tx);
    });
  } catch (error) {
    throw sqlState(error) === lockNotAvailable ? callLocked(error) : error;
  }
}

/** Adds the call of a single upload. Returns false and does nothing when the firm has its uuid or partner_call_id. */
export async function addRecorded(
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
      ...valuesOf(record, 'partnerCallId', 'clientPhoneNumber', 'operatorName', 'operatorGroupName', 'direction'),
      ...valuesOf(record, 'segmentType'),
      new Date(record.startedMs).toISOString(),
      record.disconnectReason,
      createdAt(call.uuid),
    ],
  );
  return rows.length > 0;
}

/** The call with this uuid, or else the one with this partner_call_id. */
export async function findExisting(
  tx: Sql,
  firmUuid: string,
  uuid: string,
  partnerCallId: string | null,
): Promise<ExistingCall | null> {
  const rows = await tx.query<ExistingCall>(
    `SELECT uuid, source, status, failure, sha256 FROM call
       LEFT JOIN recording ON recording.firm_uuid = call.firm_uuid AND recording.call_uuid = call.uuid
     WHERE call.firm_uuid = $1 AND (call.uuid = $2 OR call.partner_call_id = $3)
     ORDER BY call.uuid = $2 DESC LIMIT 1`,
    [firmUuid, uuid, partnerCallId],
  );
  return rows[0] ?? null;
}

/** How many of the calls with these partner_call_ids failed permanently or were canceled. */
export async function countEnded(tx: Sql, firmUuid: string, partnerCallIds: readonly string[]): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM call WHERE firm_uuid = $1 AND partner_call_id = ANY($2)
       AND (status = 'canceled' OR (status = 'failed' AND NOT failure @> '{"retryable": true}'))`,
    [firmUuid, partnerCallIds],
  );
  return row!.count;
}

/**
 * The time in a version 7 uuid, so that ordering by uuid and by creation time agree. Null for other versions.
 */
function createdAt(uuid: string): Date | null {
  return uuid[14] === '7' ? new Date(Number.parseInt(uuid.slice(0, 13).replace('-', ''), 16)) : null;
}
