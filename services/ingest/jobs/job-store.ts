import { notFound } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import type { CallFilter } from '../search/index.ts';

/** The action that a job performs on each of its calls. */
export type JobKind = 'erase_calls' | 'analyze_calls';

/** Calls that are named one by one. */
export interface Selection {
  readonly callUuids: readonly string[];
}

/** An action on the calls of a filter or a selection, done in the background. */
export interface Job {
  readonly uuid: string;
  readonly firmUuid: string;
  readonly kind: JobKind;
  readonly filter: CallFilter | Selection;
  /** The scorecard that calls are analyzed by; null for the active one of each call. */
  readonly scorecardUuid: string | null;
  readonly status: 'running' | 'done' | 'canceled';
  /** The calls that matched when the job was created; once it is done, those that it came to. */
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  /** The calls up to this one, from the newest on, are done. */
  readonly lastCall: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

const COLUMNS = `uuid, firm_uuid AS "firmUuid", kind, filter, scorecard_uuid AS "scorecardUuid", status, total, done, failed, last_call AS "lastCall",
  created_at AS "createdAt", finished_at AS "finishedAt"`;

/** Every statement but those of the runner is limited to one firm. */
export function jobs(db: Database) {
  return {
    async add(
      tx: Sql,
      job: Pick<Job, 'uuid' | 'firmUuid' | 'kind' | 'filter' | 'scorecardUuid' | 'total'>,
    ): Promise<void> {
      await tx.query(
        `INSERT INTO job (uuid, firm_uuid, kind, filter, scorecard_uuid, total, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, now())`,
        [job.uuid, job.firmUuid, job.kind, JSON.stringify(job.filter), job.scorecardUuid, job.total],
      );
    },

    /** Fault NOT_FOUND. */
    async get(firmUuid: string, uuid: string): Promise<Job> {
      const [row] = await db.query<Job>(`SELECT ${COLUMNS} FROM job WHERE firm_uuid = $1 AND uuid = $2`, [
        firmUuid,
        uuid,
      ]);
      if (row === undefined) throw notFound('job');
      return jobOf(row);
    },

    /** A job that has ended stays as it is. Fault NOT_FOUND. */
    async cancel(firmUuid: string, uuid: string): Promise<Job> {
      await db.query(
        `UPDATE job SET status = 'canceled', finished_at = now(), filter = '{}'
         WHERE firm_uuid = $1 AND uuid = $2 AND status = 'running'`,
        [firmUuid, uuid],
      );
      return this.get(firmUuid, uuid);
    },

    /** The running job that has waited longest, for this process alone until the lease ends. Null when none waits. */
    async lease(seconds: number): Promise<Job | null> {
      const [row] = await db.query<Job>(
        `UPDATE job SET leased_until = now() + make_interval(secs => $1)
         WHERE (firm_uuid, uuid) IN (
           SELECT firm_uuid, uuid FROM job WHERE status = 'running' AND leased_until <= now()
           ORDER BY leased_until, created_at LIMIT 1 FOR UPDATE SKIP LOCKED) AND status = 'running'
         RETURNING ${COLUMNS}`,
        [seconds],
      );
      return row === undefined ? null : jobOf(row);
    },

    /** Adds to the counts of a running job and ends the lease. Returns false when it was canceled. */
    async proceed(
      { firmUuid, uuid }: Pick<Job, 'firmUuid' | 'uuid'>,
      {
        done,
        failed,
        lastCall,
        isFinished,
      }: { done: number; failed: number; lastCall: string | null; isFinished: boolean },
    ): Promise<boolean> {
      const rows = await db.query(
        `UPDATE job SET done = done + $3, failed = failed + $4, last_call = $5, leased_until = date_trunc('milliseconds', now()),
           total = CASE WHEN $6 THEN done + failed + $3 + $4 ELSE greatest(total, done + failed + $3 + $4) END,
           status = CASE WHEN $6 THEN 'done' ELSE status END, finished_at = CASE WHEN $6 THEN now() END,
           filter = CASE WHEN $6 THEN '{}' ELSE filter END
         WHERE firm_uuid = $1 AND uuid = $2 AND status = 'running' RETURNING 1`,
        [firmUuid, uuid, done, failed, lastCall, isFinished],
      );
      return rows.length > 0;
    },

    async isRunning({ firmUuid, uuid }: Pick<Job, 'firmUuid' | 'uuid'>): Promise<boolean> {
      const rows = await db.query(`SELECT 1 FROM job WHERE firm_uuid = $1 AND uuid = $2 AND status = 'running'`, [
        firmUuid,
        uuid,
      ]);
      return rows.length > 0;
    },

    /** Deletes jobs that ended more than `days` days ago. */
    async prune(days: number): Promise<void> {
      await db.query('DELETE FROM job WHERE finished_at < now() - make_interval(days => $1)', [days]);
    },
  };
}

/** Times in a filter travel as text. */
function jobOf(row: Job): Job {
  if ('callUuids' in row.filter) return row;
  const time = (text: unknown) => (typeof text === 'string' ? new Date(text) : null);
  const { startedFrom, startedTo } = row.filter;
  return { ...row, filter: { ...row.filter, startedFrom: time(startedFrom), startedTo: time(startedTo) } };
}
