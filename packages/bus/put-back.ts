import type { Job } from 'pg-boss';
import { deadQueue } from './delivery/give-up.ts';
import type { Queues } from './queue/queues.ts';

/** What a dead process had in hand waits again, and the tries it was in do not count. For its only successor. */
export async function putBackAbandoned({ query, schema }: Queues, consumer: string): Promise<void> {
  await query(
    `UPDATE ${schema}.job SET state = 'created', started_on = NULL, heartbeat_on = NULL
      WHERE name = ANY($1) AND state = 'active' AND group_id IS NOT NULL`,
    [[consumer, deadQueue(consumer)]],
  );
}

/** What this process still has in hand waits again, untried. */
export async function putBack(
  { query, schema }: Queues,
  consumer: string,
  jobs: readonly Job<unknown>[],
): Promise<void> {
  if (jobs.length === 0) return;
  await query(
    `UPDATE ${schema}.job j SET state = 'created', started_on = NULL, heartbeat_on = NULL
       FROM unnest($2::uuid[], $3::int[]) AS held (id, retry_count)
      WHERE j.name = $1 AND j.id = held.id AND j.retry_count = held.retry_count AND j.state = 'active'`,
    [consumer, jobs.map((job) => job.id), jobs.map((job) => job.retryCount)],
  );
}
