import { Fault } from '@call-analysis/fault';
import { type Sql, columnsOf } from '@call-analysis/postgres';
import type { IngestPrisma } from '../../prisma.ts';
import { type FilterSegment, PROBES, type RowKey } from './rejected-filter.ts';

/** A CSV of rejected rows. */
export interface RejectedFile {
  readonly uuid: string;
  readonly objectKey: string;
}

/**
 * CSVs of rejected rows, each with a filter over its rows, for finding the files with copies of a call. Requests of users
 * are limited to one firm.
 */
export function rejectedFiles(prisma: IngestPrisma, db: Sql) {
  return {
    /** Call when its filter is stored. */
    async add(file: { uuid: string; firmUuid: string; objectKey: string; expiresAt: Date }): Promise<void> {
      await prisma.rejectedFile.create({ data: { ...file, hasFilter: true } });
    },

    /** The object key of a CSV of rejected rows that has not expired. */
    async keyOf(firmUuid: string, uuid: string, now: Date): Promise<string> {
      const file = await prisma.rejectedFile.findFirst({ where: { uuid, firmUuid, expiresAt: { gt: now } } });
      if (file === null) {
        throw new Fault(
          'not-found',
          'NOT_FOUND',
          'There is no such CSV of rejected rows. These files are kept for 7 days.',
        );
      }
      return file.objectKey;
    },

    /** Keeps others from rewriting the file until the transaction ends. */
    async lock(tx: Sql, uuid: string): Promise<void> {
      await tx.query('SELECT 1 FROM rejected_file WHERE uuid = $1 FOR UPDATE', [uuid]);
    },

    async expired(before: Date, limit: number): Promise<RejectedFile[]> {
      return prisma.rejectedFile.findMany({
        where: { expiresAt: { lt: before } },
        take: limit,
        select: { uuid: true, objectKey: true },
      });
    },

    async forget(uuid: string, sql: Sql = db): Promise<void> {
      await sql.query('DELETE FROM rejected_file WHERE uuid = $1', [uuid]);
      await sql.query('DELETE FROM rejected_filter WHERE file_uuid = $1', [uuid]);
    },

    async isKept(objectKey: string): Promise<boolean> {
      return (await prisma.rejectedFile.count({ where: { objectKey } })) > 0;
    },

    /** Call before `add`: a crash leaves a filter without a file, which the sweep removes. */
    async addFilter(firmUuid: string, fileUuid: string, part: number, filter: readonly FilterSegment[]): Promise<void> {
      await db.query(
        `INSERT INTO rejected_filter (firm_uuid, file_uuid, part, segment, segments, bits)
         SELECT $1, $2, $3, * FROM unnest($4::int[], $5::int[], $6::bytea[])`,
        [firmUuid, fileUuid, part, ...columnsOf(filter, 'segment', 'segments', 'bits')],
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
    async pruneFilters(beforeUuid: string): Promise<void> {
      await db.query(
        `DELETE FROM rejected_filter WHERE file_uuid < $1
           AND NOT EXISTS (SELECT FROM rejected_file WHERE rejected_file.uuid = file_uuid)`,
        [beforeUuid],
      );
    },
  };
}

export type RejectedFiles = ReturnType<typeof rejectedFiles>;
