import type { WireEvent } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { RemovedEvents } from '../port.ts';
import { isDeadLetterQueue } from './consumer-queue.ts';
import { readBatch, rebatched } from './event-batch.ts';
import { findPendingJobs, type PendingJob, type RemovalTarget, replaceJobData } from './queue-store.ts';

/** Jobs in memory at once. One has up to 200,000 characters of JSON. */
const PAGE_JOBS = 100;

/**
 * Removes events from the queues of all consumers and from their dead letters. Stops changing jobs once `limit` events are
 * removed.
 */
export async function removePending(
  tx: Sql,
  schema: string,
  target: RemovalTarget,
  limit = Infinity,
): Promise<RemovedEvents> {
  const { subject, except } = target;
  const stays = (event: WireEvent) =>
    (subject !== undefined && event.subject !== subject) || except.includes(event.type);
  const counts = { removed: 0, inProgress: 0 };
  let jobs: PendingJob[] = [];
  do {
    jobs = await findPendingJobs(tx, schema, target, { after: jobs.at(-1), limit: PAGE_JOBS });
    for (const job of jobs) {
      if (counts.removed >= limit) return counts;
      const batch = readBatch(job.data);
      const rest = batch?.filter(stays) ?? [];
      if (rest.length === batch?.length) continue;
      const isChanged = await replaceJobData(tx, schema, job, rest.length === 0 ? null : rebatched(rest), {
        // A dead letter is active while `giveUp` runs, which does not need the job.
        evenActive: isDeadLetterQueue(job.name),
      });
      if (isChanged) counts.removed += (batch?.length ?? 1) - rest.length;
      else counts.inProgress += 1;
    }
  } while (jobs.length === PAGE_JOBS);
  return counts;
}
