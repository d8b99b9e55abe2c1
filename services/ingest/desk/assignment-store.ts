import type { Acknowledgement as AcknowledgementSchema, Assignment as AssignmentSchema } from '@call-analysis/api/desk';
import type { Dated } from '@call-analysis/api/fields';
import type { Sql } from '@call-analysis/postgres';
import type { z } from 'zod';

/** Whose task the review of a call is. */
type Assignment = Dated<z.output<typeof AssignmentSchema>, 'due' | 'at'>;
type Acknowledgement = Dated<z.output<typeof AcknowledgementSchema>, 'acknowledged_at'>;

const ASSIGNMENT = 'call_uuid, user_uuid AS assigned_to, due, by_uuid AS by, at';
const ACKNOWLEDGEMENT = 'a.call_uuid, a.by_uuid AS acknowledged_by, a.at AS acknowledged_at';

/** Assignments of calls and acknowledgements of their reviews. Every statement is limited to one firm. */
export const assignments = {
  async set(tx: Sql, firmUuid: string, { call_uuid, assigned_to, due, by, at }: Assignment): Promise<void> {
    await tx.query(
      `INSERT INTO assignment (firm_uuid, call_uuid, user_uuid, due, by_uuid, at) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (firm_uuid, call_uuid) DO UPDATE SET user_uuid = excluded.user_uuid, due = excluded.due,
         by_uuid = excluded.by_uuid, at = excluded.at`,
      [firmUuid, call_uuid, assigned_to, due, by, at],
    );
  },

  async remove(tx: Sql, firmUuid: string, callUuid: string): Promise<void> {
    await tx.query('DELETE FROM assignment WHERE firm_uuid = $1 AND call_uuid = $2', [firmUuid, callUuid]);
  },

  /** Null where it is nobody's task. */
  async find(db: Sql, firmUuid: string, callUuid: string): Promise<Assignment | null> {
    const [found] = await db.query<Assignment>(
      `SELECT ${ASSIGNMENT} FROM assignment WHERE firm_uuid = $1 AND call_uuid = $2`,
      [firmUuid, callUuid],
    );
    return found ?? null;
  },

  /** Who has acknowledged the review as it is now; null where nobody has. */
  async acknowledged(db: Sql, firmUuid: string, callUuid: string): Promise<Acknowledgement | null> {
    const [found] = await db.query<Acknowledgement>(
      `SELECT ${ACKNOWLEDGEMENT} FROM acknowledgement AS a JOIN call ON call.firm_uuid = a.firm_uuid AND call.uuid = a.call_uuid
       WHERE a.firm_uuid = $1 AND a.call_uuid = $2 AND a.at >= call.reviewed_at`,
      [firmUuid, callUuid],
    );
    return found ?? null;
  },

  /** When the review of the call was acknowledged: an earlier acknowledgement of the same review stays. */
  async acknowledge(
    tx: Sql,
    firmUuid: string,
    callUuid: string,
    { by, at, reviewedAt }: { readonly by: string; readonly at: Date; readonly reviewedAt: Date },
  ): Promise<Acknowledgement> {
    const [row] = await tx.query<Acknowledgement>(
      `INSERT INTO acknowledgement AS a (firm_uuid, call_uuid, by_uuid, at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (firm_uuid, call_uuid) DO UPDATE SET
         by_uuid = CASE WHEN a.at >= $5 THEN a.by_uuid ELSE excluded.by_uuid END,
         at = CASE WHEN a.at >= $5 THEN a.at ELSE excluded.at END
       RETURNING ${ACKNOWLEDGEMENT}`,
      [firmUuid, callUuid, by, at, reviewedAt],
    );
    return row!;
  },
};
