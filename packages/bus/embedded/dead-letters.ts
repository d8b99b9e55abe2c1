import { openDatabase, type Transaction } from '@call-analysis/postgres';
import type { BusOptions, QueueConfig } from '../config.ts';
import { storedReason } from '../delivery/give-up.ts';
import { readEnvelope } from '../delivery/read-event.ts';
import {
  type ChooseReplayAction,
  type DeadLetter,
  type DeadLetterFilter,
  type DeadLetters,
  REDELIVER,
  type ReplayResult,
} from '../port.ts';
import { jobsOf } from '../queue/event-batch.ts';
import {
  type DeadLetterRow,
  insertJobs,
  listDeadLetters,
  lockDeadLetters,
  removeFailedJobs,
  removeJobs,
} from '../queue/queue-store.ts';
import { type Queues, startQueues } from '../queue/queues.ts';
import { publish } from './open.ts';

const REPLAYED_PER_TRANSACTION = 100;
const LEASE_SECONDS = 30;
const CONNECTIONS = 2;

/** The dead letters in the queues of one schema, whether or not their consumers are running. */
export async function openQueuedDeadLetters(
  { url, schema }: QueueConfig,
  { name, log }: Pick<BusOptions, 'name' | 'log'>,
): Promise<DeadLetters> {
  const queues = await startQueues({
    url,
    schema,
    name,
    log,
    leaseSeconds: LEASE_SECONDS,
    connections: CONNECTIONS,
  });
  const database = openDatabase({ url, schema, poolSize: CONNECTIONS, applicationName: name });
  return {
    async list(filter, limit) {
      return (await listDeadLetters(database, schema, filter, limit)).map(deadLetterFrom);
    },
    async replay(filter, choose = () => REDELIVER) {
      const [clock] = await database.query<{ now: Date }>('SELECT now()');
      const sum = { replayed: 0, published: 0 };
      const skipped: string[] = [];
      for (;;) {
        const step = await database.transaction((tx) =>
          replaySome(queues, tx, filter, { choose, until: clock!.now, skipped }),
        );
        sum.replayed += step.replayed;
        sum.published += step.published;
        skipped.push(...step.skipped);
        if (step.replayed + step.skipped.length < REPLAYED_PER_TRANSACTION) return sum;
      }
    },
    async close() {
      await Promise.allSettled([database.close(), queues.close()]);
    },
  };
}

/**
 * Replays some of the dead letters that were given up until then, without the jobs in `skipped`, and removes them in the
 * same transaction. Returns how many there were, and the jobs that cannot be replayed.
 */
async function replaySome(
  queues: Queues,
  tx: Transaction,
  filter: DeadLetterFilter,
  { choose, until, skipped }: { choose: ChooseReplayAction; until: Date; skipped: readonly string[] },
): Promise<ReplayResult & { skipped: string[] }> {
  const { schema } = queues;
  const result = { replayed: 0, published: 0, skipped: [] as string[] };
  const rows = await lockDeadLetters(tx, schema, filter, { until, except: skipped, limit: REPLAYED_PER_TRANSACTION });
  for (const { job, queue, consumer, data } of rows) {
    const envelope = readEnvelope(data);
    if (!envelope.success) {
      // It is no event and would only fail again.
      result.skipped.push(job);
      continue;
    }
    const event = envelope.data;
    const action = choose(event, consumer);
    if (action.redeliver) {
      await removeFailedJobs(tx, schema, consumer, [event.id]);
      const jobs = [...jobsOf([event], 1)].map((each) => each.job);
      await insertJobs(queues, tx, consumer, jobs);
    }
    await publish(queues, tx, action.publish);
    await removeJobs(queues, tx, queue, job);
    result.replayed += 1;
    if (action.publish.length > 0) result.published += 1;
  }
  return result;
}

function deadLetterFrom({ job, consumer, data, output, retries, at }: DeadLetterRow): DeadLetter {
  const envelope = readEnvelope(data);
  const { id, type, subject, firmuuid } = envelope.success
    ? envelope.data
    : // The attributes of what is no event cannot be relied on.
      { id: job, type: '', subject: '', firmuuid: '' };
  return { ...storedReason(output, retries), id, type, consumer, subject, firmUuid: firmuuid, at };
}
