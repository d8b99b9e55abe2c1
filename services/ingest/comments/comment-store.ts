import { confidential, type Database, type Sql } from '@call-analysis/postgres';

export interface Comment {
  readonly uuid: string;
  readonly text: string;
  /** The index of an utterance; null for the whole call. */
  readonly utterance: number | null;
  /** The user's uuid. */
  readonly by: string;
  readonly at: Date;
  /** The uuids of the users whom it calls. */
  readonly mentions: readonly string[];
}

const COLUMNS = 'uuid, text, utterance, by_uuid AS by, at, mentions';

/** Comments on calls. Every statement is limited to one firm. */
export function comments(db: Database) {
  return {
    async add(tx: Sql, firmUuid: string, callUuid: string, comment: Comment): Promise<void> {
      const { uuid, text, utterance, by, at, mentions } = comment;
      await tx.query(
        `INSERT INTO comment (firm_uuid, call_uuid, uuid, text, utterance, by_uuid, at, mentions)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [firmUuid, callUuid, uuid, confidential(text), utterance, by, at, mentions],
      );
    },

    /** Oldest first. */
    async list(
      firmUuid: string,
      callUuid: string,
      page: number,
      size: number,
    ): Promise<{ count: number; items: Comment[] }> {
      const [items, [counted]] = await Promise.all([
        db.query<Comment>(
          `SELECT ${COLUMNS} FROM comment WHERE firm_uuid = $1 AND call_uuid = $2 ORDER BY uuid LIMIT $3 OFFSET $4`,
          [firmUuid, callUuid, size, (page - 1) * size],
        ),
        db.query<{ count: number }>(
          'SELECT count(*)::int AS count FROM comment WHERE firm_uuid = $1 AND call_uuid = $2',
          [firmUuid, callUuid],
        ),
      ]);
      return { count: counted?.count ?? 0, items };
    },

    /** Locks the comment until the transaction ends. Null when there is none. */
    async lock(tx: Sql, firmUuid: string, callUuid: string, uuid: string): Promise<Comment | null> {
      const [row] = await tx.query<Comment>(
        `SELECT ${COLUMNS} FROM comment WHERE firm_uuid = $1 AND call_uuid = $2 AND uuid = $3 FOR UPDATE`,
        [firmUuid, callUuid, uuid],
      );
      return row ?? null;
    },

    async remove(tx: Sql, firmUuid: string, callUuid: string, uuid: string): Promise<void> {
      await tx.query('DELETE FROM comment WHERE firm_uuid = $1 AND call_uuid = $2 AND uuid = $3', [
        firmUuid,
        callUuid,
        uuid,
      ]);
    },
  };
}

export type Comments = ReturnType<typeof comments>;
