import type { Sql } from '@call-analysis/postgres';

export interface CallCount {
  readonly status: string;
  readonly calls: number;
}

/**
 * How many calls of all firms have each status, from the counts that the index of calls keeps by firm: a call is counted
 * when the index has taken it in, some seconds after it came or changed. No call is read, however many there are.
 */
export async function callCounts(sql: Sql): Promise<CallCount[]> {
  return sql.query<CallCount>(
    `SELECT split_part(value, ':', 1) AS status, sum(calls)::float8 AS calls FROM facet
     WHERE kind = 'state' GROUP BY status ORDER BY status`,
  );
}
