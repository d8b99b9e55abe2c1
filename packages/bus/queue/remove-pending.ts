import type { Sql } from '@call-analysis/postgres';
import type { RemovedEvents } from '../port.ts';
import { isDeadLetterQueue } from './consumer-queue.ts';
import { readBatch, rebatched } from './event-batch.ts';
import { findJobsAbout, replaceJobData } from './queue-store.ts';

/** Which events: those of a firm about a subject, except those of some types. */
export interface RemovalTarget {
  readonly firmUuid: string;
  readonly subject: string;
  /** Event types. */
  readonly except: readonly string[];
}

/** Removes the events from the queues of all consumers and from their dead letters. */
export async function removePending(tx: Sql, schema: string, target: RemovalTarget): Promise<RemovedEvents> {
  let removed = 0;
  let inProgress = 0;
  for (const job of await findJobsAbout(tx, schema, target)) {
    const batch = readBatch(job.data);
    const rest = batch?.filter((event) => event.subject !== target.subject || target.except.includes(event.type)) ?? [];
    if (rest.length === batch?.length) continue;
    const changed = await replaceJobData(tx, schema, job, rest.length === 0 ? null : rebatched(rest), {
      // A dead letter is active while `giveUp` runs, which does not need the job.
      evenActive: isDeadLetterQueue(job.name),
    });
    if (!changed) inProgress += 1;
    else removed += batch === undefined ? 1 : batch.length - rest.length;
  }
  return { removed, inProgress };
}
