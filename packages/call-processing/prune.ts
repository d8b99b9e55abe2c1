import { pruneClaims } from '@call-analysis/bus';
import type { Sql } from '@call-analysis/postgres';
import { pruneTombstones } from './tombstones.ts';

/** Removes the claims and tombstones of events that can no longer be redelivered. */
export async function pruneProcessed(sql: Sql, olderThanDays: number): Promise<void> {
  await pruneClaims(sql, olderThanDays);
  await pruneTombstones(sql, olderThanDays);
}
