import type { Event } from '@call-analysis/events';
import type { JobResult, JobWithMetadata } from 'pg-boss';
import { gaveUp } from './outcome.ts';
import { type FailureReason, DISCARD } from '../port.ts';
import { removeFailedJobs } from '../queue/queue-store.ts';
import type { Queues } from '../queue/queues.ts';
import { readEnvelope, readEvent, type Routes } from './read-event.ts';
import { reasonOf, storedReason } from './failure-reason.ts';
import { delivered, withCauses } from './trace.ts';

// Nothing wakes this worker: dead letters are moved by the queues themselves.
const pollSeconds = 0.5;
const batchSize = 10;
const longestPauseSeconds = 300;

const suffix = '.dead';

export function deadQueue(consumer: string): string {
  return `${consumer}${suffix}`;
}

export function isDeadQueue(name: string): boolean {
  return name.endsWith(suffix);
}

export function consumerOf(dead: string): string {
  return dead.slice(0, -suffix.length);
}

/**
 * Given each event that was given up, as it was published, after its route has taken note of it: at least once, until it
 * returns.
 */
export type DeadLetterSink = (queues: Queues, consumer: string, event: Event, reason: FailureReason) => Promise<void>;

/** Tells the routes of events that were given up on, each until its route has taken note. Returns the worker's id. */
export async function giveUpDead(queues: Queues, dead: string, routes: Routes, sink?: DeadLetterSink): Promise<string> {
  const { boss } = queues;
  let worker: string | undefined;
  worker = await boss.work(
    dead,
    {
      batchSize,
      perJobResults: true,
      includeMetadata: true,
      pollingIntervalSeconds: pollSeconds,
      heartbeatRefreshSeconds: queues.leaseSeconds / 3,
    },
    async (jobs: JobWithMetadata<unknown>[]) => {
      if (jobs.length >= batchSize && worker !== undefined) boss.notifyWorker(worker);
      const results: JobResult[] = [];
      for (const job of jobs) results.push(await giveUp(queues, routes, job, sink));
      return results;
    },
  );
  return worker;
}

async function giveUp(
  queues: Queues,
  routes: Routes,
  job: JobWithMetadata<unknown>,
  sink?: DeadLetterSink,
): Promise<JobResult> {
  const envelope = readEnvelope(job.data);
  // Nobody can be told of something that is no event; it stays among the dead letters.
  if (!envelope.success) return { id: job.id, status: 'completed' };
  const route = routes.get(envelope.data.type);
  const read = readEvent(routes, job.data);
  const dead = delivered('event' in read ? read.event : envelope.data);
  const { event } = dead;
  const died = storedReason(job.sourceOutput, job.sourceRetryCount);
  try {
    if ((await withCauses([dead], async () => route?.giveUp?.(event, died))) === DISCARD) {
      await discard(queues, job, event.id);
      return { id: job.id, status: 'completed' };
    }
    await sink?.(queues, consumerOf(job.name), envelope.data, died);
    gaveUp({ log: queues.log, name: queues.name, consumer: consumerOf(job.name) }, dead, died);
    return { id: job.id, status: 'completed' };
  } catch (error) {
    const reason = reasonOf(error, job.retryCount + 1);
    queues.log.error(
      { queue: job.name, event: event.id, type: event.type, attempts: reason.attempts, err: error },
      'A consumer could not give an event up; it will be asked again.',
    );
    await boundBackOff(queues, job);
    return { id: job.id, status: 'failed', output: reason };
  }
}

/** Leaves nothing of an event: neither its dead letter nor the trace of its failure. */
async function discard(
  { insist, transaction, schema }: Queues,
  { name, id }: JobWithMetadata<unknown>,
  eventId: string,
): Promise<void> {
  await insist(() =>
    transaction(async (tx) => {
      await removeFailedJobs(tx, schema, consumerOf(name), [eventId]);
      await tx.query(`DELETE FROM ${schema}.job WHERE name = $1 AND id = $2`, [name, id]);
    }),
  );
}

// Dead letters do not inherit their queue's longest pause, and without one the back-off grows to most of a day.
async function boundBackOff({ query, insist, schema }: Queues, job: JobWithMetadata<unknown>): Promise<void> {
  await insist(() =>
    query(`UPDATE ${schema}.job SET retry_delay_max = $3 WHERE name = $1 AND id = $2 AND state = 'active'`, [
      job.name,
      job.id,
      longestPauseSeconds,
    ]),
  );
}
