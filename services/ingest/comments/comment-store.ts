import type { Dated } from '@call-analysis/api/fields';
import type { CommentSchema } from '@call-analysis/api/people';
import { confidential, type Database, type Page, readPage, type Sql } from '@call-analysis/postgres';
import type { z } from 'zod';

export type Comment = Dated<z.output<typeof CommentSchema>, 'at'>;

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
    list(firmUuid: string, callUuid: string, page: Page): Promise<{ count: number; items: Comment[] }> {
      const matching = 'FROM comment WHERE firm_uuid = $1 AND call_uuid = $2';
      return readPage(db, { columns: COLUMNS, matching, values: [firmUuid, callUuid], orderBy: 'uuid' }, page);
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
