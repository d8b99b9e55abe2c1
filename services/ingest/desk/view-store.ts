import type { View as ViewSchema } from '@call-analysis/api/desk';
import type { Dated } from '@call-analysis/api/fields';
import { notFound } from '@call-analysis/fault';
import { type Database, type Page, readPage, type Sql } from '@call-analysis/postgres';
import type { z } from 'zod';

/** The parameters of a list of calls, saved under a name. */
export type View = Dated<z.output<typeof ViewSchema>, 'created_at' | 'updated_at'>;

export type ViewFields = Pick<View, 'name' | 'query' | 'shared' | 'start_page'>;

const COLUMNS = 'uuid, name, query, shared, start_page, owner_uuid AS by, created_at, updated_at';
/** Of a person: their own views and those of the firm. */
const VISIBLE = 'firm_uuid = $1 AND (owner_uuid = $2 OR shared)';

/** Saved views. Every statement is limited to one firm. */
export function views(db: Database) {
  return {
    /** The person's own first, each group by name. */
    async list(firmUuid: string, userUuid: string, page: Page) {
      const matching = `FROM saved_view WHERE ${VISIBLE}`;
      const orderBy = 'owner_uuid <> $2, lower(name), uuid';
      return readPage<View>(db, { columns: COLUMNS, matching, values: [firmUuid, userUuid], orderBy }, page);
    },

    /** In a transaction the view is locked until its end. Fault NOT_FOUND. */
    async get(firmUuid: string, userUuid: string, uuid: string, tx?: Sql): Promise<View> {
      const [view] = await (tx ?? db).query<View>(
        `SELECT ${COLUMNS} FROM saved_view WHERE ${VISIBLE} AND uuid = $3 ${tx === undefined ? '' : 'FOR UPDATE'}`,
        [firmUuid, userUuid, uuid],
      );
      if (view === undefined) throw notFound('view');
      return view;
    },

    /** How many views the person has. Others that add one of theirs wait until the transaction ends. */
    async countLocked(tx: Sql, firmUuid: string, userUuid: string): Promise<number> {
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`saved_view ${firmUuid} ${userUuid}`]);
      const [row] = await tx.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM saved_view WHERE firm_uuid = $1 AND owner_uuid = $2',
        [firmUuid, userUuid],
      );
      return row!.count;
    },

    async save(tx: Sql, firmUuid: string, view: View): Promise<void> {
      if (view.start_page) {
        // Of two that become the start page at once, the later one sees the other.
        await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`start_page ${firmUuid}`]);
        await tx.query(
          `UPDATE saved_view SET start_page = false
           WHERE firm_uuid = $1 AND start_page AND uuid <> $2 AND shared = $3 AND (shared OR owner_uuid = $4)`,
          [firmUuid, view.uuid, view.shared, view.by],
        );
      }
      await tx.query(
        `INSERT INTO saved_view (firm_uuid, uuid, owner_uuid, name, query, shared, start_page, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (firm_uuid, uuid) DO UPDATE SET name = excluded.name, query = excluded.query, shared = excluded.shared,
           start_page = excluded.start_page, updated_at = excluded.updated_at`,
        [
          firmUuid,
          view.uuid,
          view.by,
          view.name,
          JSON.stringify(view.query),
          view.shared,
          view.start_page,
          view.created_at,
          view.updated_at,
        ],
      );
    },

    async remove(tx: Sql, firmUuid: string, uuid: string): Promise<void> {
      await tx.query('DELETE FROM saved_view WHERE firm_uuid = $1 AND uuid = $2', [firmUuid, uuid]);
    },
  };
}

export type Views = ReturnType<typeof views>;
