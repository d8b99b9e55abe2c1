import type { Event } from '@call-analysis/events';
import { openDatabase, type Transaction } from '@call-analysis/postgres';
import {
  REDELIVER,
  type Choose,
  type DeadLetter,
  type DeadLetters,
  type Replayed,
  type DeadLetterFilter,
} from '../dead-letters.ts';
import { publish } from './open.ts';
import type { BusSchema } from '../queue/migrate.ts';
import { jobsOf } from '../queue/event-batch.ts';
import { removeFailedJobs, insertJobs } from '../queue/queue-store.ts';
import { type Log, type Queues, startQueues } from '../queue/queues.ts';
import { readEnvelope } from '../delivery/read-event.ts';
import { storedReason } from '../delivery/failure-reason.ts';

const together = 100;
const leaseSeconds = 30;

interface Row {
  readonly job: string;
  readonly queue: string;
  readonly consumer: string;
  readonly data: unknown;
  readonly output: unknown;
  readonly retries: number | null;
  readonly at: Date;
}

/** The dead letters in the queues of one database, whether anybody serves them or not. */
export async function openQueuedDeadLetters(
  { url, schema }: BusSchema,
  { name, log }: { readonly name: string; readonly log: Log },
): Promise<DeadLetters> {
  const queues = await startQueues({ url, schema, name, log, leaseSeconds, connections: 2 });
  const database = openDatabase({ url, schema, poolSize: 2, applicationName: name });
  return {
    async list(which, limit) {
      // Newest first, and without the bodies, which may be long.
      const { conditions, values } = conditionsOf(which);
      const rows = await database.query<Row>(
        `SELECT ${columns(`(j.data - 'data' - 'deflated') || '{"data":null}'`)} FROM ${from(schema)}
          WHERE ${conditions} ORDER BY j.created_on DESC, j.id DESC LIMIT $${values.length + 1}`,
        [...values, limit],
      );
      return rows.flatMap(letterOf);
    },
    async replay(which, choose = () => REDELIVER) {
      const [clock] = await database.query<{ now: Date }>('SELECT now()');
      const sum = { replayed: 0, published: 0 };
      const passed: string[] = [];
      for (;;) {
        const step = await database.transaction((tx) =>
          replaySome(queues, tx, { which, choose, until: clock!.now, passed }),
        );
        sum.replayed += step.replayed;
        sum.published += step.published;
        passed.push(...step.passed);
        if (step.replayed + step.passed.length < together) return sum;
      }
    },
    async close() {
      await Promise.allSettled([database.close(), queues.close()]);
    },
  };
}

interface Task {
  readonly which: DeadLetterFilter;
  readonly choose: Choose;
  /** What died later is left. */
  readonly until: Date;
  /** Jobs that were looked at and left. */
  readonly passed: readonly string[];
}

/** Puts some events where they are to go and takes their dead letters out, together or not at all. */
async function replaySome(queues: Queues, tx: Transaction, task: Task): Promise<Replayed & { passed: string[] }> {
  const { which, choose, until, passed } = task;
  const { schema } = queues;
  const { conditions, values } = conditionsOf(which);
  const n = values.length;
  const rows = await tx.query<Row>(
    `SELECT ${columns('j.data')} FROM ${from(schema)}
      WHERE ${conditions} AND j.created_on <= $${n + 1} AND j.id <> ALL($${n + 2}::uuid[])
      ORDER BY j.created_on, j.id LIMIT $${n + 3} FOR UPDATE OF j SKIP LOCKED`,
    [...values, until, passed, together],
  );
  const result = { replayed: 0, published: 0, passed: [] as string[] };
  for (const { job: id, queue, consumer, data } of rows) {
    const envelope = readEnvelope(data);
    if (!envelope.success) {
      // What is no event would only die again.
      result.passed.push(id);
      continue;
    }
    const event: Event = envelope.data;
    const { redeliver, publish: toPublish } = choose(event, consumer);
    if (redeliver) {
      await removeFailedJobs(tx, schema, consumer, [event.id]);
      await insertJobs(
        queues,
        tx,
        consumer,
        [...jobsOf([event], 1)].map(({ job }) => job),
      );
    }
    await publish(queues, tx, toPublish);
    await tx.query(`DELETE FROM ${schema}.job WHERE name = $1 AND id = $2`, [queue, id]);
    result.replayed += 1;
    if (toPublish.length > 0) result.published += 1;
  }
  return result;
}

function from(schema: string): string {
  return `${schema}.queue q JOIN ${schema}.job j ON j.name = q.dead_letter`;
}

function columns(data: string): string {
  return `j.id AS job, j.name AS queue, q.name AS consumer, ${data} AS data, j.source_output AS output,
    j.source_retry_count AS retries, j.created_on AS at`;
}

function conditionsOf({ ids, consumer, type, firmUuid, code }: DeadLetterFilter): {
  conditions: string;
  values: unknown[];
} {
  return {
    // The consumer must have taken note of the death of its event before it gets it again.
    conditions: `j.state = 'completed' AND ($1::text[] IS NULL OR j.data->>'id' = ANY($1)) AND ($2::text IS NULL OR q.name = $2)
      AND ($3::text IS NULL OR j.data->>'type' = $3) AND ($4::text IS NULL OR j.data->>'firmuuid' = $4)
      AND ($5::text IS NULL OR coalesce(j.source_output->>'code', 'INTERNAL') = $5)`,
    values: [ids ?? null, consumer ?? null, type ?? null, firmUuid ?? null, code ?? null],
  };
}

function letterOf({ job, consumer, data, output, retries, at }: Row): DeadLetter[] {
  const envelope = readEnvelope(data);
  const { id, type, subject, firmuuid } = envelope.success
    ? envelope.data
    : // What is no event has no attributes that could be relied on.
      { id: job, type: '', subject: '', firmuuid: '' };
  return [{ ...storedReason(output, retries), id, type, consumer, subject, firmUuid: firmuuid, at }];
}
