import { notFound } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import type { CallIdentity } from '../intake/rejected/rejected-filter.ts';
import { removeCall } from './removal-store.ts';

/** How many of one kind of thing were removed, in the words of the receipt. */
export interface Removed {
  readonly what: string;
  readonly count: number;
}

/** The erasure of a call. It holds no data of the call itself. */
export interface Erasure {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly batchUuid: string | null;
  /** Of its recording. */
  readonly objectKey: string | null;
  readonly removed: readonly Removed[];
  readonly erasedAt: Date;
  /** Null while parts of the call may still exist. */
  readonly finishedAt: Date | null;
}

/** What a receipt names of a call, in this order. */
const RECEIPT = ['call', 'recording', 'transcript', 'analysis', 'history_entry', 'review', 'comment', 'dispute'];

const columns = `firm_uuid AS "firmUuid", call_uuid AS "callUuid", batch_uuid AS "batchUuid", object_key AS "objectKey",
  removed, erased_at AS "erasedAt", finished_at AS "finishedAt"`;

/** Every statement but `prune` is limited to one firm. */
export function erasures(db: Sql) {
  async function one(sql: Sql, firmUuid: string, callUuid: string, lock: '' | 'FOR UPDATE'): Promise<Erasure | null> {
    const [row] = await sql.query<Erasure>(
      `SELECT ${columns} FROM erasure WHERE firm_uuid = $1 AND call_uuid = $2 ${lock}`,
      [firmUuid, callUuid],
    );
    return row ?? null;
  }

  return {
    async find(firmUuid: string, callUuid: string): Promise<Erasure | null> {
      return one(db, firmUuid, callUuid, '');
    },

    async lock(tx: Sql, firmUuid: string, callUuid: string): Promise<Erasure | null> {
      return one(tx, firmUuid, callUuid, 'FOR UPDATE');
    },

    /** Fault NOT_FOUND when there is no such call. */
    async identify(firmUuid: string, uuid: string): Promise<CallIdentity> {
      const rows = await db.query<CallIdentity>(
        `SELECT firm_uuid AS "firmUuid", partner_call_id AS "partnerCallId", client_phone_number AS phone,
           start_time AS "startTime", tagged_text AS text
         FROM call WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid],
      );
      if (rows[0] === undefined) throw notFound('call');
      return rows[0];
    },

    /** Deletes the rows of a locked call and records the erasure. `before` was removed in advance. */
    async erase(tx: Sql, firmUuid: string, callUuid: string, before: readonly Removed[], at: Date): Promise<Erasure> {
      const { batchUuid, objectKey, counts } = await removeCall(tx, firmUuid, callUuid);
      const removed = present([...RECEIPT.map((what) => ({ what, count: counts[what]! })), ...before]);
      await tx.query(
        `INSERT INTO erasure (firm_uuid, call_uuid, batch_uuid, object_key, removed, erased_at)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [firmUuid, callUuid, batchUuid, objectKey, JSON.stringify(removed), at],
      );
      return { firmUuid, callUuid, batchUuid, objectKey, removed, erasedAt: at, finishedAt: null };
    },

    /** Adds to the receipt. `finishedAt` is set once nothing of the call is left. */
    async update(tx: Sql, erasure: Erasure, added: readonly Removed[], finishedAt: Date | null): Promise<Erasure> {
      const removed = [...erasure.removed];
      for (const { what, count } of present(added)) {
        const index = removed.findIndex((each) => each.what === what);
        if (index === -1) removed.push({ what, count });
        else removed[index] = { what, count: removed[index]!.count + count };
      }
      await tx.query('UPDATE erasure SET removed = $3, finished_at = $4 WHERE firm_uuid = $1 AND call_uuid = $2', [
        erasure.firmUuid,
        erasure.callUuid,
        JSON.stringify(removed),
        finishedAt,
      ]);
      return { ...erasure, removed, finishedAt };
    },

    /** Deletes receipts of erasures that finished more than `days` days ago. */
    async prune(days: number): Promise<void> {
      await db.query('DELETE FROM erasure WHERE finished_at < now() - make_interval(days => $1)', [days]);
    },
  };
}

function present(removed: readonly Removed[]): Removed[] {
  return removed.filter(({ count }) => count > 0);
}

export type Erasures = ReturnType<typeof erasures>;
