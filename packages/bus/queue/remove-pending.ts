import type { WireEvent } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { RemovedEvents } from '../port.ts';
import { isDeadLetterQueue } from './consumer-queue.ts';
import { readBatch, rebatched } from './event-batch.ts';
import { findJobsAbout, findJobsOfFirm, type PendingJob, replaceJobData } from './queue-store.ts';

/** Which events: those of a firm about a subject, except those of some types. */
export interface RemovalTarget {
  readonly firmUuid: string;
  readonly subject: string;
  /** Event types. */
  readonly except: readonly string[];
}

/** The events of a firm, except those of some types. */
interface FirmRemovalTarget {
  readonly firmUuid: string;
  /** Event types. */
  readonly except: readonly string[];
  /** Stops changing jobs once this many events are removed. */
  readonly limit: number;
}

/** Jobs in memory at once. One has up to 200,000 characters of JSON. */
const PAGE_JOBS = 100;

/** Removes the events from the queues of all consumers and from their dead letters. */
export async function removePending(tx: Sql, schema: string, target: RemovalTarget): Promise<RemovedEvents> {
  const stays = (event: WireEvent) => event.subject !== target.subject || target.except.includes(event.type);
  const counts = { removed: 0, inProgress: 0 };
  for (const job of await findJobsAbout(tx, schema, target)) add(counts, await removeFromJob(tx, schema, job, stays));
  return counts;
}

/** As `removePending`, for all events of a firm. */
export async function removePendingOfFirm(
  tx: Sql,
  schema: string,
  { firmUuid, except, limit }: FirmRemovalTarget,
): Promise<RemovedEvents> {
  const stays = (event: WireEvent) => except.includes(event.type);
  const counts = { removed: 0, inProgress: 0 };
  let jobs: PendingJob[];
  let after: PendingJob | undefined;
  do {
    jobs = await findJobsOfFirm(tx, schema, { firmUuid, except }, { after, limit: PAGE_JOBS });
    for (const job of jobs) {
      if (counts.removed >= limit) return counts;
      add(counts, await removeFromJob(tx, schema, job, stays));
    }
    after = jobs.at(-1);
  } while (after !== undefined);
  return counts;
}

async function removeFromJob(
  tx: Sql,
  schema: string,
  job: PendingJob,
  stays: (event: WireEvent) => boolean,
): Promise<RemovedEvents> {
  const batch = readBatch(job.data);
  const rest = batch?.filter(stays) ?? [];
  if (rest.length === batch?.length) return { removed: 0, inProgress: 0 };
  const changed = await replaceJobData(tx, schema, job, rest.length === 0 ? null : rebatched(rest), {
    // A dead letter is active while `giveUp` runs, which does not need the job.
    evenActive: isDeadLetterQueue(job.name),
  });
  if (!changed) return { removed: 0, inProgress: 1 };
  return { removed: (batch?.length ?? 1) - rest.length, inProgress: 0 };
}

function add(counts: { removed: number; inProgress: number }, { removed, inProgress }: RemovedEvents): void {
  counts.removed += removed;
  counts.inProgress += inProgress;
}
