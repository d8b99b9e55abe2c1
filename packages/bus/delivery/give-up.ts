import type { Event } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { JobResult, JobWithMetadata } from 'pg-boss';
import { z } from 'zod';
import { DISCARD, type FailureReason, Poison } from '../port.ts';
import { consumerOf } from '../queue/consumer-queue.ts';
import { limitRetryDelay, removeFailedJobs, removeJobs } from '../queue/queue-store.ts';
import type { Queues } from '../queue/queues.ts';
import { recordGivenUp } from './outcome.ts';
import { readEnvelope, readEvent, type Routes } from './read-event.ts';
import { inContextOf, traced } from './trace.ts';

const BATCH_SIZE = 10;
const LONGEST_PAUSE_SECONDS = 300;

/**
 * Gets each event that was given up, as it was published, after its route's `giveUp`: at least once, until it returns.
 */
export type DeadLetterSink = (queues: Queues, consumer: string, event: Event, reason: FailureReason) => Promise<void>;

/** Calls `giveUp` for the events in a dead-letter queue, for each until it returns. Returns the worker's id. */
export async function giveUpDeadLetters(
  queues: Queues,
  deadLetterQueue: string,
  routes: Routes,
  pollSeconds: number,
  sink?: DeadLetterSink,
): Promise<string> {
  const { boss } = queues;
  let worker: string | undefined;
  worker = await boss.work(
    deadLetterQueue,
    {
      batchSize: BATCH_SIZE,
      perJobResults: true,
      includeMetadata: true,
      pollingIntervalSeconds: pollSeconds,
      heartbeatRefreshSeconds: queues.leaseSeconds / 3,
    },
    async (jobs: JobWithMetadata<unknown>[]) => {
      if (jobs.length >= BATCH_SIZE && worker !== undefined) boss.notifyWorker(worker);
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
  // `giveUp` takes an event. Jobs that contain no event stay in the dead-letter queue.
  if (!envelope.success) return { id: job.id, status: 'completed' };
  const consumer = consumerOf(job.name);
  const route = routes.get(envelope.data.type);
  const read = readEvent(routes, job.data);
  const dead = traced('event' in read ? read.event : envelope.data);
  const { event } = dead;
  const reason = storedReason(job.sourceOutput, job.sourceRetryCount);
  try {
    if ((await inContextOf([dead], async () => route?.giveUp?.(event, reason))) === DISCARD) {
      // Removes the dead letter and what the queue keeps of the failed event.
      await queues.retryUntilAnswered(() =>
        queues.transaction(async (tx) => {
          await removeFailedJobs(tx, queues.schema, consumer, [event.id]);
          await removeJobs(queues, tx, job.name, job.id);
        }),
      );
      return { id: job.id, status: 'completed' };
    }
    await sink?.(queues, consumer, envelope.data, reason);
    recordGivenUp({ log: queues.log, name: queues.name, consumer }, route?.event, dead, reason);
    return { id: job.id, status: 'completed' };
  } catch (error) {
    const failure = reasonOf(error, job.retryCount + 1);
    queues.log.error(
      { queue: job.name, event: event.id, type: event.type, attempts: failure.attempts, err: error },
      'A consumer could not give an event up. It will be asked again.',
    );
    // A dead letter does not inherit a limit from its queue; without one, the pauses grow to most of a day.
    await queues.retryUntilAnswered(() => limitRetryDelay(queues, job, LONGEST_PAUSE_SECONDS));
    return { id: job.id, status: 'failed', output: failure };
  }
}

const LONGEST_MESSAGE = 2_000;

/** Why an attempt failed, in the form that is stored with the event. */
export function reasonOf(error: unknown, attempts: number): FailureReason {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Poison || error instanceof Fault ? error.code : 'INTERNAL';
  return { message: storable(message), code: storable(code), attempts };
}

const Stored = z.object({ message: z.string(), code: z.string(), attempts: z.int() });
/** The text that pg-boss stores when an attempt ends without a result. */
const StoredByQueue = z.object({ value: z.object({ message: z.string() }) });

/** Reads what `reasonOf` returned, or what pg-boss stored when the worker was lost. */
export function storedReason(output: unknown, retries: number | null): FailureReason {
  const stored = Stored.safeParse(output);
  if (stored.success) return stored.data;
  const byQueue = StoredByQueue.safeParse(output);
  const cause = byQueue.success ? ` (${byQueue.data.value.message})` : '';
  return {
    message: `The worker was lost before it finished the event${cause}.`,
    code: 'INTERNAL',
    attempts: (retries ?? 0) + 1,
  };
}

// PostgreSQL's jsonb takes neither NUL nor half a surrogate pair.
function storable(text: string): string {
  return text.slice(0, LONGEST_MESSAGE).replaceAll('\u0000', '').toWellFormed();
}
