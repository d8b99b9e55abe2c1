import { notFound } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import type { Actor } from '@call-analysis/service';
import type { CallFilter } from '../listing/call-filter.ts';

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
  /** Who created it; null for jobs from before this was stored. */
  readonly userUuid: string | null;
  readonly address: string | null;
  /** Tells this lease from later ones. */
  readonly leases: number;
}

/** What a new job is made of. */
export type NewJob = Pick<Job, 'uuid' | 'firmUuid' | 'kind' | 'filter' | 'scorecardUuid' | 'total'> &
  Pick<Actor, 'userUuid' | 'address'>;

const COLUMNS = `uuid, firm_uuid AS "firmUuid", kind, filter, scorecard_uuid AS "scorecardUuid", status, total, done, failed, last_call AS "lastCall",
  created_at AS "createdAt", finished_at AS "finishedAt", by_uuid AS "userUuid", address, leases`;

/** Every statement but those of the runner is limited to one firm. */
export function jobs(db: Database) {
  return {
    async add(tx: Sql, job: NewJob): Promise<void> {
      await tx.query(
        `INSERT INTO job (uuid, firm_uuid, kind, filter, scorecard_uuid, total, by_uuid, address, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now())`,
        [
          job.uuid,
          job.firmUuid,
          job.kind,
          JSON.stringify(job.filter),
          job.scorecardUuid,
          job.total,
          job.userUuid,
          job.address,
        ],
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
        `UPDATE job SET leased_until = now() + make_interval(secs => $1), leases = leases + 1
         WHERE (firm_uuid, uuid) IN (
           SELECT firm_uuid, uuid FROM job WHERE status = 'running' AND leased_until <= now()
           ORDER BY leased_until, created_at LIMIT 1 FOR UPDATE SKIP LOCKED) AND status = 'running'
         RETURNING ${COLUMNS}`,
        [seconds],
      );
      return row === undefined ? null : jobOf(row);
    },

    /**
     * Counts a call, stores the position and extends the lease, in the transaction of what was done to the call. False
     * when the job was canceled or another process has leased it: then the transaction must be rolled back.
     */
    async count(
      tx: Sql,
      { firmUuid, uuid, leases }: Job,
      call: { readonly uuid: string; readonly isDone: boolean },
      leaseSeconds: number,
    ): Promise<boolean> {
      const rows = await tx.query(
        `UPDATE job SET done = done + $4, failed = failed + 1 - $4, last_call = $5, total = greatest(total, done + failed + 1),
           leased_until = now() + make_interval(secs => $6)
         WHERE firm_uuid = $1 AND uuid = $2 AND leases = $3 AND status = 'running' RETURNING 1`,
        [firmUuid, uuid, leases, call.isDone ? 1 : 0, call.uuid, leaseSeconds],
      );
      return rows.length > 0;
    },

    /** Ends the lease, and with `isFinished` the job. Changes nothing when it was canceled or leased again. */
    async release({ firmUuid, uuid, leases }: Job, isFinished: boolean): Promise<void> {
      await db.query(
        `UPDATE job SET leased_until = date_trunc('milliseconds', now()), total = CASE WHEN $4 THEN done + failed ELSE total END,
           status = CASE WHEN $4 THEN 'done' ELSE status END, finished_at = CASE WHEN $4 THEN now() END,
           filter = CASE WHEN $4 THEN '{}' ELSE filter END
         WHERE firm_uuid = $1 AND uuid = $2 AND leases = $3 AND status = 'running'`,
        [firmUuid, uuid, leases, isFinished],
      );
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
