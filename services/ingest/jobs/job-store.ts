import { notFound } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import type { Actor } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import { UNFINISHED_SQL } from '../calls/call-row.ts';
import { type CallFilter, filterToStore, storedFilter } from '../listing/call-filter.ts';

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
  /** Calls that have ended, as the job wants them and otherwise. */
  readonly done: number;
  readonly failed: number;
  /** Calls that it has begun and that have not ended. */
  readonly begun: number;
  /** Whether it has come to all of its calls, and only waits for their end. */
  readonly isThrough: boolean;
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
export type NewJob = Pick<Job, 'firmUuid' | 'kind' | 'filter' | 'scorecardUuid' | 'total'> &
  Pick<Actor, 'userUuid' | 'address'>;

const COLUMNS = `uuid, firm_uuid AS "firmUuid", kind, filter, scorecard_uuid AS "scorecardUuid", status, total, done, failed, begun, is_through AS "isThrough", last_call AS "lastCall",
  created_at AS "createdAt", finished_at AS "finishedAt", by_uuid AS "userUuid", address, leases`;

/** The newest analysis of the call in scope; null without one. */
const NEWEST_ANALYSIS = `(SELECT analysis.uuid FROM analysis WHERE analysis.firm_uuid = call.firm_uuid AND analysis.call_uuid = call.uuid
  ORDER BY analysis.created_at DESC, analysis.uuid DESC LIMIT 1)`;

/** Every statement but those of the runner is limited to one firm. */
export function jobs(db: Database) {
  return {
    /** Returns its uuid. */
    async add(job: NewJob): Promise<string> {
      const uuid = uuidv7();
      await db.query(
        `INSERT INTO job (uuid, firm_uuid, kind, filter, scorecard_uuid, total, by_uuid, address, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now())`,
        [
          uuid,
          job.firmUuid,
          job.kind,
          JSON.stringify('callUuids' in job.filter ? job.filter : filterToStore(job.filter)),
          job.scorecardUuid,
          job.total,
          job.userUuid,
          job.address,
        ],
      );
      return uuid;
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

    /**
     * A job that has ended stays as it is. The calls that it has begun end by themselves, and are not counted. Fault NOT_FOUND.
     */
    async cancel(firmUuid: string, uuid: string): Promise<Job> {
      const which = [firmUuid, uuid];
      await db.transaction(async (tx) => {
        const canceled = await tx.query(
          `UPDATE job SET status = 'canceled', finished_at = now(), filter = '{}', begun = 0
           WHERE firm_uuid = $1 AND uuid = $2 AND status = 'running' RETURNING 1`,
          which,
        );
        // A statement of its own, which sees the call that the one before has waited for.
        if (canceled.length > 0) await tx.query('DELETE FROM job_call WHERE firm_uuid = $1 AND job_uuid = $2', which);
      });
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
      call: { readonly uuid: string; readonly became: 'begun' | 'done' | 'failed' },
      leaseSeconds: number,
    ): Promise<boolean> {
      const rows = await tx.query(
        `UPDATE job SET ${call.became} = ${call.became} + 1, last_call = $4, total = greatest(total, begun + done + failed + 1),
           leased_until = now() + make_interval(secs => $5)
         WHERE firm_uuid = $1 AND uuid = $2 AND leases = $3 AND status = 'running' RETURNING 1`,
        [firmUuid, uuid, leases, call.uuid, leaseSeconds],
      );
      if (rows.length === 0) return false;
      if (call.became === 'begun') {
        await tx.query(
          `INSERT INTO job_call (firm_uuid, job_uuid, call_uuid, attempt, analysis_uuid)
           SELECT firm_uuid, $3, uuid, attempt, ${NEWEST_ANALYSIS} FROM call WHERE firm_uuid = $1 AND uuid = $2`,
          [firmUuid, call.uuid, uuid],
        );
      }
      return true;
    },

    /**
     * Counts the begun calls that have ended since, were erased, or are being processed for another reason: as done where there
     * is a new analysis, or nothing to analyze. Returns how many have not ended; null when the job was canceled or another
     * process has leased it.
     */
    async countEnded({ firmUuid, uuid, leases }: Job): Promise<number | null> {
      return db.transaction(async (tx) => {
        const which = [firmUuid, uuid, leases];
        const isOwn = `firm_uuid = $1 AND uuid = $2 AND leases = $3 AND status = 'running'`;
        if ((await tx.query(`SELECT 1 FROM job WHERE ${isOwn} FOR UPDATE`, which)).length === 0) return null;
        const [row] = await tx.query<{ begun: number }>(
          `WITH ended AS (
             DELETE FROM job_call WHERE firm_uuid = $1 AND job_uuid = $2 AND NOT EXISTS (
               SELECT FROM call WHERE call.firm_uuid = job_call.firm_uuid AND call.uuid = job_call.call_uuid
                 AND call.attempt = job_call.attempt AND call.status IN ${UNFINISHED_SQL})
             RETURNING call_uuid, analysis_uuid),
           judged AS (
             SELECT count(*)::int AS ended, (count(*) FILTER (WHERE call.outcome = 'no_speech' OR
               ${NEWEST_ANALYSIS} <> coalesce(ended.analysis_uuid, '00000000-0000-0000-0000-000000000000')))::int AS done
             FROM ended LEFT JOIN call ON call.firm_uuid = $1 AND call.uuid = ended.call_uuid)
           UPDATE job SET done = job.done + judged.done, failed = job.failed + judged.ended - judged.done,
             begun = job.begun - judged.ended
           FROM judged WHERE ${isOwn} RETURNING begun`,
          which,
        );
        return row!.begun;
      });
    },

    /** Ends the lease; the job waits for as long. Changes nothing when it was canceled or leased again. */
    async release({ firmUuid, uuid, leases }: Job, isThrough: boolean, pauseSeconds: number): Promise<void> {
      await db.query(
        `UPDATE job SET leased_until = date_trunc('milliseconds', now()) + make_interval(secs => $5), is_through = is_through OR $4
         WHERE firm_uuid = $1 AND uuid = $2 AND leases = $3 AND status = 'running'`,
        [firmUuid, uuid, leases, isThrough, pauseSeconds],
      );
    },

    /** Ends the job, all of whose calls have ended. Changes nothing when it was canceled or leased again. */
    async finish({ firmUuid, uuid, leases }: Job): Promise<void> {
      await db.query(
        `UPDATE job SET total = done + failed, status = 'done', finished_at = now(), filter = '{}', is_through = true
         WHERE firm_uuid = $1 AND uuid = $2 AND leases = $3 AND status = 'running'`,
        [firmUuid, uuid, leases],
      );
    },

    /** Deletes jobs that ended more than `days` days ago. */
    async prune(days: number): Promise<void> {
      await db.query('DELETE FROM job WHERE finished_at < now() - make_interval(days => $1)', [days]);
    },
  };
}

function jobOf(row: Job): Job {
  return 'callUuids' in row.filter ? row : { ...row, filter: storedFilter(row.filter) };
}

export type Jobs = ReturnType<typeof jobs>;
