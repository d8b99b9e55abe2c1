import type { Sql } from '@call-analysis/postgres';

/**
 * How many calls a firm has: those in the index, and the new ones that are pending. A call of a pending range may be in
 * the index already, because it has changed, and must not count twice.
 */
export async function countCalls(sql: Sql, firmUuid: string): Promise<number> {
  const [row] = await sql.query<{ calls: number }>(
    `WITH known AS (SELECT id, calls FROM facet WHERE firm_uuid = $1 AND kind = 'all' AND value = '')
     SELECT coalesce((SELECT calls FROM known), 0) + coalesce((
       SELECT sum(calls - (
         SELECT count(*) FROM known JOIN call_search ON firm = known.id AND uuid BETWEEN pending.first AND pending.last))
       FROM call_change AS pending WHERE firm_uuid = $1 AND calls > 0), 0)::bigint AS calls`,
    [firmUuid],
  );
  return row!.calls;
}

interface StatusCount {
  readonly status: string;
  readonly calls: number;
}

/**
 * How many calls of all firms have each status, from the facet counts: no call is read, however many there are. A call
 * is counted once it is indexed, some seconds after it was added or changed.
 */
export async function countByStatus(sql: Sql): Promise<StatusCount[]> {
  return sql.query<StatusCount>(
    `SELECT split_part(value, ':', 1) AS status, sum(calls)::float8 AS calls FROM facet
     WHERE kind = 'state' GROUP BY status ORDER BY status`,
  );
}
