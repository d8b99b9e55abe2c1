import type { Sql } from '@call-analysis/postgres';

/** The most changed calls, and the most calls of a range, that are taken in one transaction. */
const CALLS_PER_TRANSACTION = 2_000;

/** A call to index. */
export interface PendingCall {
  readonly firmUuid: string;
  readonly uuid: string;
  /** Its words are new, so its document has to be indexed too. */
  readonly hasNewWords: boolean;
}

/** A row of `call_change`. */
interface Change {
  readonly position: number;
  readonly firm_uuid: string;
  readonly first: string;
  readonly last: string;
  readonly calls: number;
  readonly said: boolean;
}

/**
 * Adds the new calls from uuid `first` to uuid `last` to the pending changes, in the transaction that adds the calls.
 * Triggers add all other changes.
 */
export async function noteNewCalls(
  tx: Sql,
  firmUuid: string,
  first: string,
  last: string,
  calls: number,
): Promise<void> {
  await tx.query('INSERT INTO call_change (firm_uuid, first, last, calls, said) VALUES ($1, $2, $3, $4, true)', [
    firmUuid,
    first,
    last,
    calls,
  ]);
}

/**
 * Removes the next pending changes from the queue, of one firm or of all, and returns their calls. Single changes and
 * one range of new calls get equal shares, so that neither waits for the other.
 */
export async function takeChanges(tx: Sql, firmUuid: string | null): Promise<PendingCall[]> {
  return [...(await takeSingles(tx, firmUuid)), ...(await takeFromRange(tx, firmUuid))];
}

async function takeSingles(tx: Sql, firmUuid: string | null): Promise<PendingCall[]> {
  const changes = await tx.query<Change>(
    // The array makes PostgreSQL look the positions up instead of scanning a long queue.
    `DELETE FROM call_change WHERE position = ANY (ARRAY(
       SELECT position FROM call_change WHERE first = last AND ($1::uuid IS NULL OR firm_uuid = $1) ORDER BY position LIMIT ${CALLS_PER_TRANSACTION}))
     RETURNING *`,
    [firmUuid],
  );
  return changes.map(({ firm_uuid, first, said }) => ({ firmUuid: firm_uuid, uuid: first, hasNewWords: said }));
}

/** Takes the first calls of the range from which the fewest transactions have taken calls so far. */
async function takeFromRange(tx: Sql, firmUuid: string | null): Promise<PendingCall[]> {
  const [range] = await tx.query<Change>(
    `SELECT * FROM call_change WHERE first < last AND ($1::uuid IS NULL OR firm_uuid = $1) ORDER BY taken, position LIMIT 1`,
    [firmUuid],
  );
  if (range === undefined) return [];
  const calls = await tx.query<{ uuid: string }>(
    'SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid BETWEEN $2 AND $3 ORDER BY uuid LIMIT $4',
    [range.firm_uuid, range.first, range.last, CALLS_PER_TRANSACTION + 1],
  );
  const next = calls[CALLS_PER_TRANSACTION];
  if (next === undefined) {
    await tx.query('DELETE FROM call_change WHERE position = $1', [range.position]);
  } else {
    await tx.query(
      'UPDATE call_change SET first = $2, calls = greatest(0, calls - $3), taken = taken + 1 WHERE position = $1',
      [range.position, next.uuid, CALLS_PER_TRANSACTION],
    );
  }
  return calls
    .slice(0, CALLS_PER_TRANSACTION)
    .map(({ uuid }) => ({ firmUuid: range.firm_uuid, uuid, hasNewWords: true }));
}

/** Takes the next calls whose entries lack the columns of this release, while no change is pending. */
export async function takeBackfill(tx: Sql): Promise<PendingCall[]> {
  const [range] = await tx.query<{ firm_uuid: string; first: string; last: string }>(
    'SELECT * FROM call_backfill WHERE NOT EXISTS (SELECT FROM call_change) LIMIT 1',
  );
  if (range === undefined) return [];
  const calls = await tx.query<{ uuid: string }>(
    'SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid BETWEEN $2 AND $3 ORDER BY uuid LIMIT $4',
    [range.firm_uuid, range.first, range.last, CALLS_PER_TRANSACTION + 1],
  );
  const next = calls[CALLS_PER_TRANSACTION];
  await (next === undefined
    ? tx.query('DELETE FROM call_backfill WHERE firm_uuid = $1', [range.firm_uuid])
    : tx.query('UPDATE call_backfill SET first = $2 WHERE firm_uuid = $1', [range.firm_uuid, next.uuid]));
  return calls
    .slice(0, CALLS_PER_TRANSACTION)
    .map(({ uuid }) => ({ firmUuid: range.firm_uuid, uuid, hasNewWords: false }));
}

/** Whether calls of the firm are still to be indexed for this release. */
export async function hasBackfill(sql: Sql, firmUuid: string): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM call_backfill WHERE firm_uuid = $1', [firmUuid]);
  return rows.length > 0;
}

/** The position of the firm's last committed change that is not indexed yet; null when the index is up to date. */
export async function lastChange(sql: Sql, firmUuid: string): Promise<number | null> {
  const [row] = await sql.query<{ position: number | null }>(
    'SELECT max(position) AS position FROM call_change WHERE firm_uuid = $1',
    [firmUuid],
  );
  return row?.position ?? null;
}

/** Whether a change of the firm up to this position is still pending. */
export async function isPending(sql: Sql, firmUuid: string, position: number): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM call_change WHERE firm_uuid = $1 AND position <= $2 LIMIT 1', [
    firmUuid,
    position,
  ]);
  return rows.length > 0;
}

/** Whether a document of the firm is still to be indexed. */
export async function hasPendingDocuments(sql: Sql, firmUuid: string): Promise<boolean> {
  const rows = await sql.query('SELECT 1 FROM text_change WHERE firm_uuid = $1 LIMIT 1', [firmUuid]);
  return rows.length > 0;
}

/** A number that grows with every change of any firm. */
export async function changesSoFar(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ changes: number | null }>(
    `SELECT pg_sequence_last_value(pg_get_serial_sequence('call_change', 'position')) AS changes`,
  );
  return row?.changes ?? 0;
}

/** New calls, and changed ones, that a listing still indexes itself: it takes a moment. */
const NEW_CALLS_AT_ONCE = 2_000;
const CHANGED_CALLS_AT_ONCE = 200;

/** Whether more changes of the firm are pending than a listing should wait for. */
export async function isFarBehind(sql: Sql, firmUuid: string): Promise<boolean> {
  const [row] = await sql.query<{ is_far: boolean }>(
    `SELECT coalesce(sum(calls) > $2, false) OR count(*) FILTER (WHERE calls = 0) > $3 AS is_far
     FROM (SELECT calls FROM call_change WHERE firm_uuid = $1 ORDER BY position LIMIT $3 + 100) AS pending`,
    [firmUuid, NEW_CALLS_AT_ONCE, CHANGED_CALLS_AT_ONCE],
  );
  return row!.is_far;
}
