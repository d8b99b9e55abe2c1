import type { ConsumerDepth } from './port.ts';
import type { Queues } from './queues.ts';

// Counting further would read the whole table while a large batch waits.
const counted = 50_000;

/**
 * Waiting events are exact up to 50,000 jobs by consumer; beyond that the figure is at least what those hold, or the
 * jobs that the queues' own monitoring last counted, some minutes ago. Dead events are counted up to 50,000.
 * Events travel alone or in a parcel, and a parcel's tier is its size.
 */
export async function depths({ query, schema }: Queues): Promise<ConsumerDepth[]> {
  // The orders name the index to count along; left alone, the planner may read the whole table to find nothing dead.
  return query<ConsumerDepth>(
    `SELECT q.name AS consumer,
            (CASE WHEN waiting.jobs <= $1 THEN waiting.n ELSE greatest(waiting.n, q.queued_count) END)::int AS waiting,
            active.n::int AS active,
            dead.n::int AS dead
       FROM ${schema}.queue q
      CROSS JOIN LATERAL (
        SELECT count(*) AS jobs, coalesce(sum(size), 0) AS n FROM (
          SELECT coalesce(group_tier::int, 1) AS size FROM ${schema}.job
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
      WHERE q.dead_letter IS NOT NULL
      ORDER BY q.name`,
    [counted],
  );
}
