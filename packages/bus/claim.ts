import type { Database, Sql } from '@call-analysis/postgres';

interface Identified {
  readonly id: string;
}

/** A consumer as it was registered, and where it stores its results. */
export interface Consuming {
  readonly db: Pick<Database, 'transaction'>;
  readonly consumer: string;
}

/**
 * Does a consumer's work for those of the events that it was not done for before, in one transaction with the note that
 * it is done. Not called when there is nothing new.
 */
export async function once<Each extends Identified>(
  { db, consumer }: Consuming,
  events: readonly Each[],
  work: (tx: Sql, fresh: readonly Each[]) => Promise<void>,
  options?: Parameters<Database['transaction']>[1],
): Promise<void> {
  await db.transaction(async (tx) => {
    const claimed = await claim(tx, consumer, events);
    const fresh = events.filter(({ id }) => claimed.has(id));
    if (fresh.length > 0) await work(tx, fresh);
  }, options);
}

/**
 * Claims events for a consumer inside the transaction that stores their result, so that an event that is delivered twice
 * counts once. Returns the ids that the consumer had not claimed before. Waits for another transaction that is claiming
 * the same events.
 *
 * Needs this table in the service's own schema:
 *
 *     CREATE TABLE claimed_event (
 *       consumer text NOT NULL,
 *       event_id uuid NOT NULL,
 *       at timestamptz NOT NULL DEFAULT now(),
 *       PRIMARY KEY (consumer, event_id)
 *     );
 *     CREATE INDEX ON claimed_event (at); -- for pruneClaims
 */
export async function claim(tx: Sql, consumer: string, events: readonly Identified[]): Promise<ReadonlySet<string>> {
  if (events.length === 0) return new Set();
  // In order, so that two transactions that claim the same events cannot deadlock.
  const rows = await tx.query<{ event_id: string }>(
    `INSERT INTO claimed_event (consumer, event_id)
     SELECT $1, id FROM unnest($2::uuid[]) AS id GROUP BY id ORDER BY id
     ON CONFLICT DO NOTHING
     RETURNING event_id`,
    [consumer, events.map(({ id }) => id)],
  );
  return inSpellingOf(events, rows);
}

/**
 * The events that a consumer has claimed before, so that slow work for them can be skipped. This only saves work: two
 * transactions may ask at the same time, and `claim` decides.
 */
export async function alreadyClaimed(
  sql: Sql,
  consumer: string,
  events: readonly Identified[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ event_id: string }>(
    'SELECT event_id FROM claimed_event WHERE consumer = $1 AND event_id = ANY($2::uuid[])',
    [consumer, events.map(({ id }) => id)],
  );
  return inSpellingOf(events, rows);
}

/** The ids that the rows contain, in the caller's spelling: PostgreSQL returns uuids in lower case. */
function inSpellingOf(events: readonly Identified[], rows: readonly { event_id: string }[]): ReadonlySet<string> {
  const known = new Set(rows.map((row) => row.event_id));
  return new Set(events.map(({ id }) => id).filter((id) => known.has(id.toLowerCase())));
}

/**
 * Removes claims older than the given number of days and returns how many there were. Keep claims for as long as an event
 * can be delivered again (`redeliveryWindowDays`).
 */
export async function pruneClaims(sql: Sql, olderThanDays: number): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `WITH pruned AS (DELETE FROM claimed_event WHERE at < now() - make_interval(days => $1) RETURNING 1)
     SELECT count(*)::int AS count FROM pruned`,
    [olderThanDays],
  );
  return rows[0]?.count ?? 0;
}
