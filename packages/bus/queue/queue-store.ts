import type { Event } from '@call-analysis/events';
import type { Sql } from '@call-analysis/postgres';
import type { JobInsert } from 'pg-boss';
import { jobsOf } from './event-batch.ts';
import type { Queues } from './queues.ts';

const jobsInStatement = 1_000;
const charactersInStatement = 4 * 1024 * 1024;

/** Jobs go in together or not at all. Those whose id waits there already are left as they are. */
export async function insertJobs(queues: Queues, sql: Sql, consumer: string, jobs: JobInsert[]): Promise<void> {
  const executeSql = async (text: string, values?: unknown[]) => ({ rows: await sql.query(text, values) });
  await queues.boss.insert(consumer, jobs, { db: { executeSql } });
}

/** Of events that died in a queue a trace stays there, which would be taken for the event when that comes again. */
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

/** Events as jobs, not more than one statement should carry. */
export function* statementsOf(events: readonly Event[]): Generator<JobInsert[]> {
  let jobs: JobInsert[] = [];
  let characters = 0;
  for (const { job, characters: length } of jobsOf(events)) {
    if (jobs.length === jobsInStatement || (jobs.length > 0 && characters + length > charactersInStatement)) {
      yield jobs;
      jobs = [];
      characters = 0;
    }
    jobs.push(job);
    characters += length;
  }
  if (jobs.length > 0) yield jobs;
}
