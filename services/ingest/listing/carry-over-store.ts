import { setTimeout as pause } from 'node:timers/promises';
import type { Database, Sql, Transaction } from '@call-analysis/postgres';
import type { Logger } from '@call-analysis/runtime';
import { type AnalysisBodies, currentFacts } from '../calls/analysis-body-store.ts';
import type { AnalysisFacts } from '../calls/analysis-facts.ts';
import type { ListedTable } from './filter-sql.ts';
import { listFacts } from './listed-call-store.ts';

const CALLS_PER_TRANSACTION = 500;
/** A little less than three turns of its schedule, which goes on at the next one. A service that is stopping waits for a run. */
const RUN_MS = 2_800;
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
  #isDone = false;

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

  /** Carries calls over for some seconds, unless that is done. */
  async run(log: Logger): Promise<void> {
    if (await this.isDone()) return;
    const deadline = Date.now() + RUN_MS;
    let progress = await this.step();
    while (progress !== null && !progress.isElsewhere && Date.now() < deadline) progress = await this.step();
    if (progress?.isElsewhere === false) log.info(progress, 'calls are being carried over for lists');
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
    const rows = await tx.query<CallKey & { outcome: string | null; is_listed: boolean }>(
      `SELECT call.firm_uuid, call.uuid, call.outcome, EXISTS (
         SELECT FROM listed_call WHERE listed_call.firm_uuid = call.firm_uuid AND listed_call.uuid = call.uuid) AS is_listed
       FROM unnest($1::uuid[], $2::uuid[]) AS named (firm_uuid, uuid)
         JOIN call ON call.firm_uuid = named.firm_uuid AND call.uuid = named.uuid
       ORDER BY call.firm_uuid, call.uuid FOR SHARE OF call`,
      keys,
    );
    const missing = rows.filter(({ is_listed }) => !is_listed);
    // A call without speech has no current analysis.
    const analyzed = Map.groupBy(
      missing.filter(({ outcome }) => outcome !== 'no_speech'),
      ({ firm_uuid }) => firm_uuid,
    );
    const facts = new Map<string, AnalysisFacts>();
    for (const [firm, ofFirm] of analyzed) {
      const uuids = ofFirm.map(({ uuid }) => uuid);
      for (const [uuid, found] of await currentFacts(tx, this.#bodies, firm, uuids)) facts.set(uuid, found);
    }
    await listFacts(
      tx,
      missing.map(({ firm_uuid, uuid }) => ({ firmUuid: firm_uuid, callUuid: uuid, facts: facts.get(uuid) ?? null })),
      { isNew: true },
    );
  }
}
