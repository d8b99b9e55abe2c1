import type { Sql } from '@call-analysis/postgres';

/** So many of what went, in the words of the receipt. */
export interface Removed {
  readonly what: string;
  readonly count: number;
}

/** A call that was erased, without anything that was known of it. */
export interface Erasure {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly batchUuid: string | null;
  /** Of its recording. */
  readonly objectKey: string | null;
  readonly removed: readonly Removed[];
  readonly erasedAt: Date;
  /** Null while something of it may still be somewhere. */
  readonly finishedAt: Date | null;
}

const columns = `firm_uuid AS "firmUuid", call_uuid AS "callUuid", batch_uuid AS "batchUuid", object_key AS "objectKey",
  removed, erased_at AS "erasedAt", finished_at AS "finishedAt"`;

/** Every question is asked in the name of one firm. */
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

    /** Removes the rows of a call that is locked and takes down that they went; `gone` went before. */
    async erase(tx: Sql, firmUuid: string, callUuid: string, gone: readonly Removed[], at: Date): Promise<Erasure> {
      const which = [firmUuid, callUuid];
      const [recording] = await tx.query<{ key: string | null }>(
        'DELETE FROM recording WHERE firm_uuid = $1 AND call_uuid = $2 RETURNING object_key AS key',
        which,
      );
      const heard = await tx.query('DELETE FROM transcript WHERE firm_uuid = $1 AND call_uuid = $2 RETURNING 1', which);
      const analyses = await tx.query(
        'DELETE FROM analysis WHERE firm_uuid = $1 AND call_uuid = $2 RETURNING 1',
        which,
      );
      const [call] = await tx.query<{ batch: string | null; sent: number; history: number }>(
        `DELETE FROM call WHERE firm_uuid = $1 AND uuid = $2
         RETURNING batch_uuid AS batch, (tagged_text IS NOT NULL)::int AS sent,
           jsonb_array_length(history) + 1 AS history`,
        which,
      );
      if (call === undefined) throw new Error(`the call ${callUuid} was not locked while it was erased`);
      const objectKey = recording?.key ?? null;
      const removed = some([
        { what: 'call', count: 1 },
        { what: 'recording', count: objectKey === null ? 0 : 1 },
        { what: 'transcript', count: heard.length + call.sent },
        { what: 'analysis', count: analyses.length },
        { what: 'history_entry', count: call.history },
        ...gone,
      ]);
      await tx.query(
        `INSERT INTO erasure (firm_uuid, call_uuid, batch_uuid, object_key, removed, erased_at)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [firmUuid, callUuid, call.batch, objectKey, JSON.stringify(removed), at],
      );
      return { firmUuid, callUuid, batchUuid: call.batch, objectKey, removed, erasedAt: at, finishedAt: null };
    },

    /** Adds to what went. `finishedAt` once nothing is left. */
    async update(tx: Sql, erasure: Erasure, also: readonly Removed[], finishedAt: Date | null): Promise<Erasure> {
      const removed = [...erasure.removed];
      for (const { what, count } of some(also)) {
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

    /** Forgets erasures that have been finished for so many days. */
    async prune(days: number): Promise<void> {
      await db.query('DELETE FROM erasure WHERE finished_at < now() - make_interval(days => $1)', [days]);
    },
  };
}

function some(removed: readonly Removed[]): Removed[] {
  return removed.filter(({ count }) => count > 0);
}
