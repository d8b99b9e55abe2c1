import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Sql, Transaction } from '@call-analysis/postgres';
import type { Logger } from '@call-analysis/runtime';
import type { AnalysisBodies } from '../calls/analysis-body-store.ts';
import { factsOf } from '../calls/analysis-facts.ts';
import type { ListedTable } from './filter-sql.ts';
import { listFacts } from './listed-call-store.ts';

const CALLS_PER_TRANSACTION = 500;
const REPORT_MS = 10_000;
const AFTER_FAILURE_MS = 5_000;
/** How often it looks whether another process is done with carrying over. */
const LOOK_MS = 1_000;
const STALE_MS = 50;

interface CallKey {
  readonly firm_uuid: string;
  readonly uuid: string;
}

/**
 * Makes the rows of lists for the calls of a release that had none, while the service runs. Until that is done, lists and
 * statistics read views, in which calls that are not carried over come from the former index.
 */
export class CarryOver {
  readonly #db: Database;
  readonly #bodies: AnalysisBodies;
  readonly #stopping = new AbortController();
  #isDone = false;
  #running: Promise<void> | undefined;

  constructor(db: Database, bodies: AnalysisBodies) {
    this.#db = db;
    this.#bodies = bodies;
  }

  /** What lists read now. */
  async table(sql: Sql = this.#db): Promise<ListedTable> {
    return (await this.isDone(sql)) ? 'listed_call' : 'carried_listed_call';
  }

  /** The same of the points of answers. */
  async pointsTable(sql: Sql): Promise<'listed_points' | 'carried_listed_points'> {
    return (await this.isDone(sql)) ? 'listed_points' : 'carried_listed_points';
  }

  async isDone(sql: Sql = this.#db): Promise<boolean> {
    if (this.#isDone) return true;
    const rows = await sql.query('SELECT FROM listing_carry_over');
    return (this.#isDone = rows.length === 0);
  }

  /** Waits for the calls of which the former index lacked the last changes when it was stopped: those of a few seconds. */
  async ready(): Promise<void> {
    while (!(await this.isDone())) {
      const rows = await this.#db.query('SELECT FROM listing_stale LIMIT 1');
      if (rows.length === 0) return;
      await pause(STALE_MS);
    }
  }

  /** Carries calls over in the background. */
  start(log: Logger): void {
    this.#running = this.#run(log);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(log: Logger): Promise<void> {
    const { signal } = this.#stopping;
    let reported = performance.now();
    while (!signal.aborted) {
      try {
        const progress = await this.step();
        if (progress === null) return;
        if (performance.now() - reported >= REPORT_MS) {
          log.info(progress, 'calls are being carried over for lists');
          reported = performance.now();
        }
        if (progress.isElsewhere) await pause(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, 'carrying calls over for lists failed');
        await pause(AFTER_FAILURE_MS, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  /** Carries the next calls over. Null when that is done; `isElsewhere` while another process does it. */
  async step(): Promise<{ carried: number; isElsewhere: boolean } | null> {
    return this.#db.transaction(async (tx) => {
      const [position] = await tx.query<CallKey & { carried: number }>(
        'SELECT * FROM listing_carry_over FOR UPDATE SKIP LOCKED',
      );
      if (position === undefined) {
        const [waiting] = await tx.query<{ carried: number }>('SELECT carried FROM listing_carry_over');
        return waiting === undefined ? null : { carried: waiting.carried, isElsewhere: true };
      }
      const stale = await tx.query<CallKey>(
        `DELETE FROM listing_stale WHERE (firm_uuid, uuid) IN (SELECT firm_uuid, uuid FROM listing_stale LIMIT $1)
         RETURNING firm_uuid, uuid`,
        [CALLS_PER_TRANSACTION],
      );
      if (stale.length > 0) {
        await this.#carry(tx, stale);
        return { carried: position.carried, isElsewhere: false };
      }
      const next = await tx.query<CallKey>(
        `SELECT firm_uuid, uuid FROM call WHERE (firm_uuid, uuid) > ($1, $2) ORDER BY firm_uuid, uuid LIMIT $3`,
        [position.firm_uuid, position.uuid, CALLS_PER_TRANSACTION],
      );
      const last = next.at(-1);
      if (last === undefined) {
        await tx.query('DELETE FROM listing_carry_over');
        await tx.query('TRUNCATE call_search, call_search_new, call_points, facet');
        return null;
      }
      await this.#carry(tx, next);
      const carried = position.carried + next.length;
      await tx.query('UPDATE listing_carry_over SET firm_uuid = $1, uuid = $2, carried = $3', [
        last.firm_uuid,
        last.uuid,
        carried,
      ]);
      return { carried, isElsewhere: false };
    });
  }

  async #carry(tx: Transaction, calls: readonly CallKey[]): Promise<void> {
    const keys = [calls.map(({ firm_uuid }) => firm_uuid), calls.map(({ uuid }) => uuid)];
    // Locked, so that a change is either read here or finds the row.
    const rows = await tx.query<CallKey & { is_listed: boolean }>(
      `SELECT call.firm_uuid, call.uuid, EXISTS (
         SELECT FROM listed_call WHERE listed_call.firm_uuid = call.firm_uuid AND listed_call.uuid = call.uuid) AS is_listed
       FROM unnest($1::uuid[], $2::uuid[]) AS named (firm_uuid, uuid)
         JOIN call ON call.firm_uuid = named.firm_uuid AND call.uuid = named.uuid
       ORDER BY call.firm_uuid, call.uuid FOR SHARE OF call`,
      keys,
    );
    const missing = rows.filter(({ is_listed }) => !is_listed);
    const analyses = await currentAnalyses(tx, missing);
    const unpacked = await this.#bodies.unpack(
      tx,
      analyses.map(({ body }) => body),
    );
    const facts = new Map(analyses.map(({ uuid }, at) => [uuid, factsOf(unpacked[at])]));
    await listFacts(
      tx,
      missing.map(({ firm_uuid, uuid }) => ({ firmUuid: firm_uuid, callUuid: uuid, facts: facts.get(uuid) ?? null })),
      { isNew: true },
    );
  }
}

/** The newest analysis of each call with its review, as the score has it. A call without speech has none. */
async function currentAnalyses(sql: Sql, calls: readonly CallKey[]): Promise<{ uuid: string; body: Buffer }[]> {
  return sql.query(
    `SELECT call.uuid, coalesce(review.body, latest.body) AS body
     FROM unnest($1::uuid[], $2::uuid[]) AS named (firm_uuid, uuid)
       JOIN call ON call.firm_uuid = named.firm_uuid AND call.uuid = named.uuid
       CROSS JOIN LATERAL (
         SELECT analysis.uuid, analysis.body FROM analysis
         WHERE analysis.call_uuid = call.uuid AND analysis.firm_uuid = call.firm_uuid
         ORDER BY analysis.created_at DESC, analysis.uuid DESC LIMIT 1) AS latest
       LEFT JOIN review ON review.firm_uuid = call.firm_uuid AND review.call_uuid = call.uuid AND review.analysis_uuid = latest.uuid
     WHERE call.outcome IS DISTINCT FROM 'no_speech'`,
    [calls.map(({ firm_uuid }) => firm_uuid), calls.map(({ uuid }) => uuid)],
  );
}
