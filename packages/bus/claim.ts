import type { Sql } from '@call-analysis/postgres';

/**
 * Claims events for a consumer inside the transaction that stores their result, so that an event that comes twice
 * counts once. Returns the ids that nobody had claimed before. A transaction that claims what another one is just
 * claiming waits for its end.
 *
 * Needs this table in the service's own schema:
 *
 *     CREATE TABLE claimed_event (
 *       consumer text NOT NULL,
 *       event_id uuid NOT NULL,
 *       at timestamptz NOT NULL DEFAULT now(),
 *       PRIMARY KEY (consumer, event_id)
 *     );
 */
export async function claim(tx: Sql, consumer: string, eventIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (eventIds.length === 0) return new Set();
  // In order, so that two that claim the same events at once cannot deadlock.
  const rows = await tx.query<{ event_id: string }>(
    `INSERT INTO claimed_event (consumer, event_id)
     SELECT $1, id FROM unnest($2::uuid[]) AS id GROUP BY id ORDER BY id
     ON CONFLICT DO NOTHING
     RETURNING event_id`,
    [consumer, eventIds],
  );
  return asWritten(eventIds, rows);
}

/**
 * Which of the events a consumer has claimed before, so that slow work is not done for what counts no more. It spares work
 * alone: two may ask at the same time, and `claim` decides.
 */
export async function alreadyClaimed(
  sql: Sql,
  consumer: string,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ event_id: string }>(
    'SELECT event_id FROM claimed_event WHERE consumer = $1 AND event_id = ANY($2::uuid[])',
    [consumer, eventIds],
  );
  return asWritten(eventIds, rows);
}

/** Those that the database knows, as the asker writes them. */
function asWritten(eventIds: readonly string[], rows: readonly { event_id: string }[]): ReadonlySet<string> {
  const known = new Set(rows.map((row) => row.event_id));
  return new Set(eventIds.filter((id) => known.has(id.toLowerCase())));
}

/**
 * Forgets claims older than so many days, and says how many. Keep them longer than an event can wait for its last
 * retry.
 */
export async function pruneClaims(sql: Sql, olderThanDays: number): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `WITH pruned AS (DELETE FROM claimed_event WHERE at < now() - make_interval(days => $1) RETURNING 1)
     SELECT count(*)::int AS count FROM pruned`,
    [olderThanDays],
  );
  return rows[0]?.count ?? 0;
}
