import type { Sql } from '@call-analysis/postgres';

/** The most calls that are reindexed in one transaction. */
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

/** Removes the next single changes from the queue, of one firm or of all, and returns their calls. */
export async function takeChanges(tx: Sql, firmUuid: string | null, limit: number): Promise<PendingCall[]> {
  const changes = await tx.query<Change>(
    // The array makes PostgreSQL look the positions up instead of scanning a long queue.
    `DELETE FROM call_change WHERE position = ANY (ARRAY(
       SELECT position FROM call_change WHERE first = last AND ($1::uuid IS NULL OR firm_uuid = $1) ORDER BY position LIMIT $2))
     RETURNING *`,
    [firmUuid, limit],
  );
  return changes.map(({ firm_uuid, first, said }) => ({ firmUuid: firm_uuid, uuid: first, hasNewWords: said }));
}

/** The range of new calls from which the fewest transactions have taken calls so far; null when there is none. */
export async function nextRange(tx: Sql, firmUuid: string | null): Promise<Change | null> {
  const [range] = await tx.query<Change>(
    `SELECT * FROM call_change WHERE first < last AND ($1::uuid IS NULL OR firm_uuid = $1) ORDER BY taken, position LIMIT 1`,
    [firmUuid],
  );
  return range ?? null;
}

/** Removes the first calls of a range. `next` is the first of those that remain; null removes the range. */
export async function shortenRange(tx: Sql, { position }: Change, taken: number, next: string | null): Promise<void> {
  await (next === null
    ? tx.query('DELETE FROM call_change WHERE position = $1', [position])
    : tx.query(
        'UPDATE call_change SET first = $2, calls = greatest(0, calls - $3), taken = taken + 1 WHERE position = $1',
        [position, next, taken],
      ));
}

/** The next calls with new entries, of one firm or of all; with `before`, only calls with a lower uuid. */
export async function takeNewEntries(tx: Sql, firmUuid: string | null, before: string | null): Promise<PendingCall[]> {
  const calls = await tx.query<{ firm_uuid: string; uuid: string }>(
    // The minimum of the next firm is one look-up in the index, however many entries a firm has.
    `WITH RECURSIVE firms AS (
       SELECT min(firm) AS firm FROM call_search_new
       UNION ALL
       SELECT (SELECT min(each.firm) FROM call_search_new AS each WHERE each.firm > firms.firm) FROM firms WHERE firm IS NOT NULL)
     SELECT facet.firm_uuid, entry.uuid FROM firms JOIN facet ON facet.id = firms.firm CROSS JOIN LATERAL (
       SELECT uuid FROM call_search_new WHERE call_search_new.firm = firms.firm AND ($2::uuid IS NULL OR uuid < $2)
       ORDER BY uuid LIMIT ${CALLS_PER_TRANSACTION}) AS entry
     WHERE $1::uuid IS NULL OR facet.firm_uuid = $1 LIMIT ${CALLS_PER_TRANSACTION}`,
    [firmUuid, before],
  );
  return calls.map(({ firm_uuid, uuid }) => ({ firmUuid: firm_uuid, uuid, hasNewWords: true }));
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

/** Whether a document of the firm is still to be indexed. Those of new entries are not in the queue yet. */
export async function hasPendingDocuments(sql: Sql, firmUuid: string): Promise<boolean> {
  const rows = await sql.query(
    `SELECT 1 FROM text_change WHERE firm_uuid = $1 UNION ALL
     SELECT 1 FROM facet JOIN call_search_new ON call_search_new.firm = facet.id
     WHERE facet.firm_uuid = $1 AND facet.kind = 'all' AND facet.value = '' LIMIT 1`,
    [firmUuid],
  );
  return rows.length > 0;
}

/** Whether a change of the firm that was committed so long ago is still pending. */
export async function isStale(sql: Sql, firmUuid: string, olderThanMs: number): Promise<boolean> {
  const [oldest] = await sql.query<{ is_stale: boolean }>(
    `SELECT at < clock_timestamp() - $2 * interval '1 ms' AS is_stale FROM call_change
     WHERE firm_uuid = $1 ORDER BY position LIMIT 1`,
    [firmUuid, olderThanMs],
  );
  return oldest?.is_stale ?? false;
}

/** Whether the indexer has anything to do that does not wait for something else. */
export async function hasPending(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ has: boolean }>(
    `SELECT EXISTS (SELECT FROM call_change) OR EXISTS (SELECT FROM text_change WHERE ripe)
       OR EXISTS (SELECT FROM call_search_new) AS has`,
  );
  return row!.has;
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
/** Changes that are counted. A call that is processed changes about four times. */
const CHANGES_COUNTED = 1_000;

/** Whether changes of more of the firm's calls are pending than a listing should wait for. */
export async function isFarBehind(sql: Sql, firmUuid: string): Promise<boolean> {
  const [row] = await sql.query<{ is_far: boolean }>(
    `SELECT coalesce(sum(calls) > $2, false) OR count(DISTINCT first) FILTER (WHERE calls = 0) > $3 AS is_far
     FROM (SELECT first, calls FROM call_change WHERE firm_uuid = $1 ORDER BY position LIMIT ${CHANGES_COUNTED}) AS pending`,
    [firmUuid, NEW_CALLS_AT_ONCE, CHANGED_CALLS_AT_ONCE],
  );
  return row!.is_far;
}
