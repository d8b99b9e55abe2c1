import type { Sql } from '@call-analysis/postgres';
import type { RejectedFile } from '../../batches/batch-store.ts';
import { type FilterSegment, PROBES, type RowKey } from './rejected-filter.ts';

/** Filters over the rows of rejected CSVs, for finding the files with copies of a call. */
export function rejectedFilters(db: Sql) {
  return {
    /** Call before the file is stored: a crash leaves a filter without a file, which the sweep removes. */
    async add(firmUuid: string, fileUuid: string, part: number, filter: readonly FilterSegment[]): Promise<void> {
      await db.query(
        `INSERT INTO rejected_filter (firm_uuid, file_uuid, part, segment, segments, bits)
         SELECT $1, $2, $3, * FROM unnest($4::int[], $5::int[], $6::bytea[])`,
        [
          firmUuid,
          fileUuid,
          part,
          filter.map(({ segment }) => segment),
          filter.map(({ segments }) => segments),
          filter.map(({ bits }) => bits),
        ],
      );
    },

    /** The files of a firm that may contain a row with one of the keys, and those that have no filter. */
    async filesWith(firmUuid: string, keys: readonly RowKey[], now: Date): Promise<RejectedFile[]> {
      return db.query<RejectedFile>(
        `SELECT uuid, object_key AS "objectKey" FROM rejected_file WHERE firm_uuid = $1 AND expires_at > $2
           AND (NOT has_filter OR uuid IN (
             SELECT file_uuid FROM rejected_filter, unnest($3::bigint[], $4::bigint[]) AS key (one, other)
             WHERE firm_uuid = $1 AND segment = key.one % segments AND (
               SELECT bool_and(get_bit(bits, (key.one + probe * key.other) % (octet_length(bits) * 8)) = 1)
               FROM generate_series(0, ${PROBES - 1}) AS probe)))`,
        [firmUuid, now, keys.map(([one]) => one), keys.map(([, other]) => other)],
      );
    },

    /** Removes filters whose file was not stored although it was begun before this uuid was made. */
    async prune(beforeUuid: string): Promise<void> {
      await db.query(
        `DELETE FROM rejected_filter WHERE file_uuid < $1
           AND NOT EXISTS (SELECT FROM rejected_file WHERE rejected_file.uuid = file_uuid)`,
        [beforeUuid],
      );
    },
  };
}
