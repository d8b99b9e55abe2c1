import { gauge, remembered } from '@call-analysis/runtime';
import type { ConsumerDepth } from '../port.ts';
import type { Queues } from './queues.ts';

const labels = ['service', 'consumer'] as const;
const gauges = {
  waiting: gauge('events_waiting', 'Events that wait for a consumer; beyond 50,000 jobs an estimate.', labels),
  active: gauge('events_in_hand', 'Events that a consumer has taken and not finished.', labels),
  dead: gauge('dead_letters', 'Events that were given up, up to 50,000.', labels),
  oldestSeconds: gauge('oldest_event_seconds', 'How long the oldest event that waits has waited.', labels),
};

/** Counting a long queue takes tens of milliseconds, and nobody needs to know more often. */
const rememberMs = 10_000;

/** How it stands with the consumers of these names; absent, with all that there are. */
export type Look = (queues: Queues, consumers?: readonly string[]) => Promise<ConsumerDepth[]>;

/** Shows on the page of metrics what `look` says, until it is called. */
export function watchDepths({ name }: Pick<Queues, 'name'>, look: () => Promise<ConsumerDepth[]>): () => void {
  const seen = remembered(rememberMs, look);
  const sources = (['waiting', 'active', 'dead', 'oldestSeconds'] as const).map((figure) =>
    gauges[figure].from(async () =>
      (await seen()).map((depth) => ({ labels: [name, depth.consumer] as const, value: depth[figure] ?? 0 })),
    ),
  );
  return () => {
    for (const leave of sources) leave();
  };
}

// Counting further would read the whole table while a large batch waits.
const counted = 50_000;

/**
 * Waiting events are exact up to 50,000 jobs by consumer; beyond that the figure is at least what those hold, or the
 * jobs that the queues' own monitoring last counted, some minutes ago. Dead events are counted up to 50,000.
 * Events travel alone or in a parcel, and a parcel's tier is its size. Absent `consumers`, all that there are.
 */
export async function depths({ query, schema }: Queues, consumers?: readonly string[]): Promise<ConsumerDepth[]> {
  if (consumers?.length === 0) return [];
  // The orders name the index to count along; left alone, the planner may read the whole table to find nothing dead.
  return query<ConsumerDepth>(
    `SELECT q.name AS consumer,
            (CASE WHEN waiting.jobs <= $1 THEN waiting.n ELSE greatest(waiting.n, q.queued_count) END)::int AS waiting,
            active.n::int AS active,
            dead.n::int AS dead,
            round(extract(epoch FROM now() - waiting.oldest), 1)::float8 AS "oldestSeconds"
       FROM ${schema}.queue q
      CROSS JOIN LATERAL (
        SELECT count(*) AS jobs, coalesce(sum(size), 0) AS n, min(created_on) AS oldest FROM (
          SELECT coalesce(group_tier::int, 1) AS size, created_on FROM ${schema}.job
           WHERE name = q.name AND state < 'active' AND NOT blocked
           ORDER BY priority DESC, created_on LIMIT $1 + 1) counted) waiting
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(size), 0) AS n FROM (
          SELECT coalesce(group_tier::int, 1) AS size FROM ${schema}.job
           WHERE name = q.name AND state = 'active' AND group_id IS NOT NULL
           ORDER BY group_id LIMIT $1) counted) active
      CROSS JOIN LATERAL (
        SELECT count(*) AS n FROM (
          SELECT FROM ${schema}.job WHERE name = q.dead_letter
           ORDER BY id LIMIT $1) counted) dead
      WHERE q.dead_letter IS NOT NULL AND ($2::text[] IS NULL OR q.name = ANY($2))
      ORDER BY q.name`,
    [counted, consumers ?? null],
  );
}
