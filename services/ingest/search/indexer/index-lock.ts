import type { Sql } from '@call-analysis/postgres';

/** Any number that nobody else takes in this database. */
const INDEX = 7_205_120;

/** One writer at a time, until the transaction ends: counts are changed in any order, and shelves are opened. */
export async function lockIndex(tx: Sql): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [INDEX]);
}

/** The same without waiting; false when another one writes. */
export async function tryToLockIndex(tx: Sql): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [INDEX]);
  return row!.locked;
}
