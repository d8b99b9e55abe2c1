import type { Sql } from '@call-analysis/postgres';
import type { Job, JobInsert } from 'pg-boss';
import type { DeadLetterFilter, ConsumerDepth } from '../port.ts';
import { deadLetterQueueOf } from './consumer-queue.ts';
import type { Queues } from './queues.ts';

// All SQL on pg-boss's tables. Names: a queue is a consumer, or the dead letters of one; a job is an event or an event
// batch. A job's `group_id` is the firm and its `group_tier` the number of events in a batch; null is one event.

/** One attempt at a job: after a retry it no longer matches. */
type JobAttempt = Pick<Job, 'id' | 'retryCount'>;

type Tables = Pick<Queues, 'query' | 'schema'>;

/** Inserts all of the jobs or none. A job whose id is already in the queue is left as it is. */
export async function insertJobs(
  { boss }: Pick<Queues, 'boss'>,
  sql: Sql,
  consumer: string,
  jobs: JobInsert[],
): Promise<void> {
  await boss.insert(consumer, jobs, through(sql));
}

/**
 * Removes jobs that are done, or a dead letter by its id. They are not kept, so that conversations do not outlive their
 * use and the queue does not grow.
 */
export async function removeJobs(
  { boss }: Pick<Queues, 'boss'>,
  sql: Sql,
  queue: string,
  jobs: JobAttempt[] | string,
): Promise<void> {
  await boss.deleteJob(queue, jobs, through(sql));
}

/** Has pg-boss send its statement where `sql` sends its own. */
function through(sql: Sql) {
  return { db: { executeSql: async (text: string, values?: unknown[]) => ({ rows: await sql.query(text, values) }) } };
}

/** Returns jobs of this process to the queue, for now or for later; the attempt does not count. */
export async function returnJobs(
  { query, schema }: Tables,
  consumer: string,
  jobs: readonly JobAttempt[],
  pauseMs = 0,
): Promise<void> {
  if (jobs.length === 0) return;
  await query(
    `UPDATE ${schema}.job j SET state = 'created', started_on = NULL, heartbeat_on = NULL,
        start_after = now() + $4 * interval '1 millisecond'
       FROM unnest($2::uuid[], $3::int[]) AS held (id, retry_count)
      WHERE j.name = $1 AND j.id = held.id AND j.retry_count = held.retry_count AND j.state = 'active'`,
    [consumer, jobs.map(({ id }) => id), jobs.map(({ retryCount }) => retryCount), pauseMs],
  );
}

/**
 * Returns all active jobs of a consumer to the queue; the attempts do not count. Only for a consumer's only process.
 */
export async function returnAbandonedJobs({ query, schema }: Tables, consumer: string): Promise<void> {
  await query(
    `UPDATE ${schema}.job SET state = 'created', started_on = NULL, heartbeat_on = NULL
      WHERE name = ANY($1) AND state = 'active' AND group_id IS NOT NULL`,
    [[consumer, deadLetterQueueOf(consumer)]],
  );
}

/** Active jobs whose worker has sent no heartbeat for a lease. */
export function findLapsedJobs(
  { query, schema }: Tables,
  queues: readonly string[],
): Promise<(JobAttempt & { readonly name: string })[]> {
  return query(
    `SELECT name, id, retry_count AS "retryCount" FROM ${schema}.job
      WHERE name = ANY($1) AND state = 'active' AND group_id IS NOT NULL
        AND heartbeat_on < now() - heartbeat_seconds * interval '1 second'`,
    [queues],
  );
}

/** Those of the queues in which a job waits, and whether the time of one has come. */
export function findWaitingQueues(
  { query, schema }: Tables,
  queues: readonly string[],
): Promise<{ readonly name: string; readonly isDue: boolean }[]> {
  const waits = `FROM ${schema}.job WHERE name = q.name AND state < 'active' AND NOT blocked`;
  return query(
    `SELECT q.name, EXISTS (SELECT ${waits} AND start_after <= now()) AS "isDue"
     FROM unnest($1::text[]) AS q (name) WHERE EXISTS (SELECT ${waits})`,
    [queues],
  );
}

/** Bounds the pause before a job's next retry. */
export async function limitRetryDelay(
  { query, schema }: Tables,
  { name, id }: { readonly name: string; readonly id: string },
  seconds: number,
): Promise<void> {
  await query(`UPDATE ${schema}.job SET retry_delay_max = $3 WHERE name = $1 AND id = $2 AND state = 'active'`, [
    name,
    id,
    seconds,
  ]);
}

/**
 * Removes what pg-boss keeps of jobs after their last attempt failed. As long as it is there, the same event cannot be
 * inserted again.
 */
export async function removeFailedJobs(
  sql: Sql,
  schema: string,
  consumer: string,
  eventIds: readonly string[],
): Promise<void> {
  await sql.query(`DELETE FROM ${schema}.job WHERE name = $1 AND id = ANY($2::uuid[]) AND state = 'failed'`, [
    consumer,
    eventIds,
  ]);
}

export interface PendingJob {
  readonly name: string;
  readonly id: string;
  readonly tier: string | null;
  readonly data: unknown;
}

/** Which events: those of a firm, all or those about a subject, except those of some types. */
export interface RemovalTarget {
  readonly firmUuid: string;
  readonly subject?: string;
  /** Event types. */
  readonly except: readonly string[];
}

/**
 * Jobs after a given one, ordered by queue and id, that are or may contain such events. Only those of several events come with
 * their data. Reads all jobs of the firm, of which a large batch has tens of thousands: this is asked too seldom to pay for an
 * index on every job.
 */
export function findPendingJobs(
  sql: Sql,
  schema: string,
  { firmUuid, subject, except }: RemovalTarget,
  { after, limit }: { after: Pick<PendingJob, 'name' | 'id'> | undefined; limit: number },
): Promise<PendingJob[]> {
  return sql.query<PendingJob>(
    `SELECT name, id, group_tier AS tier, CASE WHEN data ? 'type' THEN NULL ELSE data END AS data FROM ${schema}.job
      WHERE group_id = $1::text AND coalesce(data->>'type', '') <> ALL($2::text[])
        AND ($3::text IS NULL OR data->'subjects' ? $3::text OR data->>'subject' = $3::text)
        AND ($4::text IS NULL OR (name, id) > ($4::text, $5::uuid))
      ORDER BY name, id LIMIT $6`,
    [firmUuid, except, subject ?? null, after?.name ?? null, after?.id ?? null, limit],
  );
}

/**
 * Replaces a job's data, or removes the job when `data` is null. False when the job has become active or has changed
 * since it was read; `evenActive` ignores the former.
 */
export async function replaceJobData(
  sql: Sql,
  schema: string,
  { name, id, tier }: PendingJob,
  data: { readonly stored: object; readonly tier: string } | null,
  { evenActive }: { evenActive: boolean },
): Promise<boolean> {
  const idle = evenActive ? '' : `AND state <> 'active'`;
  const where = `name = $1 AND id = $2 ${idle} AND group_tier IS NOT DISTINCT FROM $3::text`;
  const changed =
    data === null
      ? await sql.query(`DELETE FROM ${schema}.job WHERE ${where} RETURNING 1`, [name, id, tier])
      : await sql.query(`UPDATE ${schema}.job SET data = $4, group_tier = $5 WHERE ${where} RETURNING 1`, [
          name,
          id,
          tier,
          JSON.stringify(data.stored),
          data.tier,
        ]);
  return changed.length > 0;
}

/** The consumers of topics. In the order of their names, so that transactions lock queues in the same order. */
export function findSubscriptions(
  sql: Sql,
  schema: string,
  topics: readonly string[],
): Promise<{ topic: string; consumer: string }[]> {
  return sql.query<{ topic: string; consumer: string }>(
    `SELECT event AS topic, name AS consumer FROM ${schema}.subscription WHERE event = ANY($1) ORDER BY name`,
    [topics],
  );
}

/** Counting further would read the complete table while a large batch waits. */
const COUNT_LIMIT = 50_000;

/**
 * The depths of these consumers, by default of all. Waiting events are exact up to 50,000 jobs for each consumer.
 * Beyond that, the figure is the larger of the events in those jobs and pg-boss's own count of jobs, which is some
 * minutes old. Dead letters are counted up to 50,000.
 */
export async function readDepths({ query, schema }: Tables, consumers?: readonly string[]): Promise<ConsumerDepth[]> {
  if (consumers?.length === 0) return [];
  // ORDER BY names the index to count along. Without it, PostgreSQL may read the complete table to find no dead
  // letters.
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
    [COUNT_LIMIT, consumers ?? null],
  );
}

export interface DeadLetterRow {
  readonly job: string;
  /** The consumer's dead-letter queue. */
  readonly queue: string;
  readonly consumer: string;
  readonly data: unknown;
  /** pg-boss's record of the last attempt. */
  readonly output: unknown;
  readonly retries: number | null;
  readonly at: Date;
}

/** Newest first, without the bodies, which may be long. */
export function listDeadLetters(
  sql: Sql,
  schema: string,
  filter: DeadLetterFilter,
  limit: number,
): Promise<DeadLetterRow[]> {
  return sql.query<DeadLetterRow>(
    `SELECT ${deadLetterColumns(`(j.data - 'data' - 'deflated') || '{"data":null}'`)} FROM ${deadLetterTables(schema)}
      WHERE ${DEAD_LETTER_CONDITIONS} ORDER BY j.created_on DESC, j.id DESC LIMIT $6`,
    [...deadLetterValues(filter), limit],
  );
}

/** Oldest first. Locks the rows and skips those that another transaction has locked. */
export function lockDeadLetters(
  sql: Sql,
  schema: string,
  filter: DeadLetterFilter,
  { until, except, limit }: { until: Date; except: readonly string[]; limit: number },
): Promise<DeadLetterRow[]> {
  return sql.query<DeadLetterRow>(
    `SELECT ${deadLetterColumns('j.data')} FROM ${deadLetterTables(schema)}
      WHERE ${DEAD_LETTER_CONDITIONS} AND j.created_on <= $6 AND j.id <> ALL($7::uuid[])
      ORDER BY j.created_on, j.id LIMIT $8 FOR UPDATE OF j SKIP LOCKED`,
    [...deadLetterValues(filter), until, except, limit],
  );
}

function deadLetterTables(schema: string): string {
  return `${schema}.queue q JOIN ${schema}.job j ON j.name = q.dead_letter`;
}

function deadLetterColumns(data: string): string {
  return `j.id AS job, j.name AS queue, q.name AS consumer, ${data} AS data, j.source_output AS output,
    j.source_retry_count AS retries, j.created_on AS at`;
}

// 'completed': the consumer's giveUp has returned. Before that, its event must not be delivered again.
const DEAD_LETTER_CONDITIONS = `j.state = 'completed' AND ($1::text[] IS NULL OR j.data->>'id' = ANY($1))
  AND ($2::text IS NULL OR q.name = $2) AND ($3::text IS NULL OR j.data->>'type' = $3)
  AND ($4::text IS NULL OR j.data->>'firmuuid' = $4)
  AND ($5::text IS NULL OR coalesce(j.source_output->>'code', 'INTERNAL') = $5)`;

function deadLetterValues({ ids, consumer, type, firmUuid, code }: DeadLetterFilter): unknown[] {
  return [ids ?? null, consumer ?? null, type ?? null, firmUuid ?? null, code ?? null];
}

/** Every job is written three times and deleted. By default, autovacuum would wait for a fifth of a large table. */
export async function tuneAutovacuum(sql: Sql, schema: string): Promise<void> {
  const wanted = ['autovacuum_vacuum_scale_factor=0.02', 'autovacuum_vacuum_cost_delay=0'];
  const [row] = await sql.query<{ reloptions: string[] | null }>(
    'SELECT reloptions FROM pg_class WHERE oid = $1::regclass',
    [`${schema}.job_common`],
  );
  const present = row?.reloptions ?? [];
  if (wanted.every((each) => present.includes(each))) return;
  await sql.query(`ALTER TABLE ${schema}.job_common SET (${wanted.join(', ')})`);
}
