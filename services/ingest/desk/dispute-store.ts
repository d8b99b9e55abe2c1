import type { DisputeQuery, Dispute as DisputeSchema } from '@call-analysis/api/desk';
import type { Dated } from '@call-analysis/api/fields';
import { notFound } from '@call-analysis/fault';
import { confidential, type Database, readPage, type Sql } from '@call-analysis/postgres';
import type { Person } from '@call-analysis/service';
import type { z } from 'zod';
import { seesCallOf } from '../calls/call-store.ts';

/** An answer of a call that somebody disagrees with. */
export type Dispute = Dated<z.output<typeof DisputeSchema>, 'at' | 'decided_at'>;

const COLUMNS = 'uuid, call_uuid, question_uuid, reason, status, by_uuid AS by, at, comment, decided_by, decided_at';

/** Disputes of answers. Every statement is limited to one firm. */
export function disputes(db: Database) {
  return {
    /** False when a dispute of the question is open. */
    async add(tx: Sql, firmUuid: string, dispute: Dispute): Promise<boolean> {
      const added = await tx.query(
        `INSERT INTO dispute (firm_uuid, uuid, call_uuid, question_uuid, reason, status, by_uuid, at)
         VALUES ($1, $2, $3, $4, $5, 'open', $6, $7)
         ON CONFLICT (firm_uuid, call_uuid, question_uuid) WHERE status = 'open' DO NOTHING RETURNING 1`,
        [
          firmUuid,
          dispute.uuid,
          dispute.call_uuid,
          dispute.question_uuid,
          confidential(dispute.reason),
          dispute.by,
          dispute.at,
        ],
      );
      return added.length > 0;
    },

    /** Those of calls that the person sees, newest first. */
    async list(
      { firmUuid, seenOperators }: Pick<Person, 'firmUuid' | 'seenOperators'>,
      { status, ...page }: z.output<typeof DisputeQuery>,
    ) {
      const matching = `FROM dispute WHERE firm_uuid = $1 AND ($2 = '{}' OR status = ANY($2::text[]))
        AND ${seesCallOf('dispute', '$3')}`;
      const values = [firmUuid, status, seenOperators];
      return readPage<Dispute>(db, { columns: COLUMNS, matching, values, orderBy: 'uuid DESC' }, page);
    },

    /** Of one call, the oldest first. */
    ofCall(firmUuid: string, callUuid: string): Promise<Dispute[]> {
      return db.query<Dispute>(`SELECT ${COLUMNS} FROM dispute WHERE firm_uuid = $1 AND call_uuid = $2 ORDER BY uuid`, [
        firmUuid,
        callUuid,
      ]);
    },

    /** In a transaction it is locked until the end. Fault NOT_FOUND. */
    async get(firmUuid: string, uuid: string, tx?: Sql): Promise<Dispute> {
      const [found] = await (tx ?? db).query<Dispute>(
        `SELECT ${COLUMNS} FROM dispute WHERE firm_uuid = $1 AND uuid = $2 ${tx === undefined ? '' : 'FOR UPDATE'}`,
        [firmUuid, uuid],
      );
      if (found === undefined) throw notFound('dispute');
      return found;
    },

    async decide(tx: Sql, firmUuid: string, dispute: Dispute): Promise<void> {
      await tx.query(
        `UPDATE dispute SET status = $3, comment = $4, decided_by = $5, decided_at = $6 WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, dispute.uuid, dispute.status, confidential(dispute.comment), dispute.decided_by, dispute.decided_at],
      );
    },
  };
}

export type Disputes = ReturnType<typeof disputes>;
