import type { Sql } from '@call-analysis/postgres';
import type { RejectedFile } from '../uploads/batch-store.ts';

/** The keys of rejected rows (rejected-row-keys.ts), by which their files are found. */
export function rejectedRows(db: Sql) {
  return {
    /** Call before the file is stored: a crash leaves keys without a file, which the sweep removes. */
    async add(firmUuid: string, fileUuid: string, keys: ReadonlySet<bigint>): Promise<void> {
      await db.query(
        `INSERT INTO rejected_row (firm_uuid, file_uuid, key) SELECT $1, $2, unnest($3::bigint[]) ON CONFLICT DO NOTHING`,
        [firmUuid, fileUuid, Array.from(keys, String)],
      );
    },

    /** The files of a firm that may contain a row with one of the keys, and those whose rows have no keys. */
    async filesWith(firmUuid: string, keys: readonly bigint[], now: Date): Promise<RejectedFile[]> {
      return db.query<RejectedFile>(
        `SELECT uuid, object_key AS "objectKey" FROM rejected_file
         WHERE firm_uuid = $1 AND expires_at > $3 AND (NOT has_keys
           OR uuid IN (SELECT file_uuid FROM rejected_row WHERE firm_uuid = $1 AND key = ANY($2::bigint[])))`,
        [firmUuid, keys.map(String), now],
      );
    },

    /** Forgets keys of rows that were removed from a file. */
    async forget(tx: Sql, firmUuid: string, fileUuid: string, keys: readonly bigint[]): Promise<void> {
      await tx.query('DELETE FROM rejected_row WHERE firm_uuid = $1 AND file_uuid = $2 AND key = ANY($3::bigint[])', [
        firmUuid,
        fileUuid,
        keys.map(String),
      ]);
    },

    /** Removes keys whose file was not stored although it was begun before this time, at which its uuid was made. */
    async prune(beforeUuid: string): Promise<void> {
      await db.query(
        `DELETE FROM rejected_row WHERE file_uuid < $1
           AND NOT EXISTS (SELECT FROM rejected_file WHERE rejected_file.uuid = file_uuid)`,
        [beforeUuid],
      );
    },
  };
}
