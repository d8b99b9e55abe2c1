import type { Sql } from '@call-analysis/postgres';

/** An arbitrary key that no other advisory lock in this database uses. */
const INDEX = 7_205_120;

/**
 * Makes the transaction the only one that writes the index, until it ends. Two writers would change facet counts in
 * different orders and deadlock, and could open the same block twice.
 */
export async function lockIndex(tx: Sql): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [INDEX]);
}

/** The same without waiting. Returns false while another transaction writes. */
export async function tryToLockIndex(tx: Sql): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [INDEX]);
  return row!.locked;
}
