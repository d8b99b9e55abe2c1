import type { Database, Sql } from '@call-analysis/postgres';
import { UNFINISHED_SQL } from '../../calls/call-row.ts';
import type { CarryOver } from '../../listing/carry-over-store.ts';
import { type FilteredCalls, type ListedTable, matching, Values } from '../../listing/filter-sql.ts';

/** Which calls of the queue are asked for, and by whom. */
export interface QueueQuery extends FilteredCalls {
  readonly userUuid: string;
  /** Only calls that this sampling rule has chosen; null for all. */
  readonly ruleUuid: string | null;
  /** The uuids of calls that the person does not want now. */
  readonly skip: readonly string[];
  readonly now: Date;
}

/** Why a call is in the queue; calls of an earlier reason are taken first. */
const REASONS = ['assigned', 'disputed', 'sampled', 'uncertain'] as const;
type Reason = (typeof REASONS)[number];

/** The task of an assignment `a` until a review that was written since is done. */
const IS_WAITING = `NOT EXISTS (SELECT FROM review AS r
  WHERE r.firm_uuid = a.firm_uuid AND r.call_uuid = a.call_uuid AND r.done AND r.at > a.at)`;

/** The queue of calls to review, and who has which call of it. Every statement is limited to one firm. */
export function reviewQueue(db: Database, carryOver: CarryOver) {
  return {
    /** The first calls that the person may take, in order: those of the first reason that has any. */
    async candidates(query: QueueQuery, limit: number): Promise<string[]> {
      await carryOver.ready();
      const table = await carryOver.table();
      for (const reason of REASONS) {
        const values = new Values();
        const rows = await db.query<{ uuid: string }>(
          `${waitingFor(values, table, query, reason)} LIMIT ${values.add(limit, 'int')}`,
          values.all,
        );
        if (rows.length > 0) return rows.map(({ uuid }) => uuid);
      }
      return [];
    },

    /** Whether the person may take the call. */
    async isWaiting(tx: Sql, query: QueueQuery, callUuid: string): Promise<boolean> {
      const values = new Values();
      const table = await carryOver.table(tx);
      const parts = REASONS.map((reason) => `(${waitingFor(values, table, query, reason, callUuid)})`);
      const rows = await tx.query(`${parts.join(' UNION ALL ')} LIMIT 1`, values.all);
      return rows.length > 0;
    },

    /** How many calls the person may take that nobody has. */
    async countWaiting(query: QueueQuery): Promise<number> {
      await carryOver.ready();
      const values = new Values();
      const table = await carryOver.table();
      const parts = REASONS.map((reason) => `(${waitingFor(values, table, query, reason)})`);
      const [row] = await db.query<{ calls: number }>(
        `SELECT count(*)::int AS calls FROM (SELECT uuid FROM (${parts.join(' UNION ALL ')}) AS waiting GROUP BY uuid) AS waiting
         WHERE NOT EXISTS (SELECT FROM review_lease AS lease
           WHERE lease.firm_uuid = ${values.add(query.firmUuid, 'uuid')} AND lease.call_uuid = waiting.uuid
             AND lease.until > ${values.add(query.now, 'timestamptz')})`,
        values.all,
      );
      return row!.calls;
    },

    /** Lets requests of one person wait for each other until the transaction ends. */
    async lockPerson(tx: Sql, firmUuid: string, userUuid: string): Promise<void> {
      await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`review_lease ${firmUuid} ${userUuid}`]);
    },

    /** The call that the person has; null without one. */
    async held(tx: Sql, { firmUuid, userUuid, now }: Pick<QueueQuery, 'firmUuid' | 'userUuid' | 'now'>) {
      const [lease] = await tx.query<{ call: string }>(
        `SELECT call_uuid AS call FROM review_lease WHERE firm_uuid = $1 AND user_uuid = $2 AND until > $3 ORDER BY until DESC LIMIT 1`,
        [firmUuid, userUuid, now],
      );
      return lease?.call ?? null;
    },

    /** Whether the call matches the filter, was chosen by the rule and is not skipped. */
    async matches(tx: Sql, query: QueueQuery, callUuid: string): Promise<boolean> {
      const values = new Values();
      const from = asked(values, await carryOver.table(tx), query);
      const rows = await tx.query(`SELECT FROM ${from} AND c.uuid = ${values.add(callUuid, 'uuid')}`, values.all);
      return rows.length > 0;
    },

    /** False when another person has the call. */
    async lease(tx: Sql, { firmUuid, userUuid, now }: QueueQuery, callUuid: string, until: Date): Promise<boolean> {
      const leased = await tx.query(
        `INSERT INTO review_lease AS lease (firm_uuid, call_uuid, user_uuid, until)
         SELECT firm_uuid, uuid, $3, $4 FROM call WHERE firm_uuid = $1 AND uuid = $2
         ON CONFLICT (firm_uuid, call_uuid) DO UPDATE SET user_uuid = excluded.user_uuid, until = excluded.until
           WHERE lease.user_uuid = excluded.user_uuid OR lease.until <= $5
         RETURNING 1`,
        [firmUuid, callUuid, userUuid, until, now],
      );
      return leased.length > 0;
    },

    /** False when the person does not have the call any more. */
    async extend(tx: Sql, { firmUuid, userUuid, now }: QueueQuery, callUuid: string, until: Date): Promise<boolean> {
      const extended = await tx.query(
        `UPDATE review_lease SET until = $4
         WHERE firm_uuid = $1 AND user_uuid = $2 AND call_uuid = $3 AND until > $5 RETURNING 1`,
        [firmUuid, userUuid, callUuid, until, now],
      );
      return extended.length > 0;
    },

    /** Whether the person had it. */
    async release(sql: Sql, firmUuid: string, userUuid: string, callUuid: string): Promise<boolean> {
      const released = await sql.query(
        'DELETE FROM review_lease WHERE firm_uuid = $1 AND user_uuid = $2 AND call_uuid = $3 RETURNING 1',
        [firmUuid, userUuid, callUuid],
      );
      return released.length > 0;
    },

    async countLeased(firmUuid: string, now: Date): Promise<number> {
      const [row] = await db.query<{ calls: number }>(
        'SELECT count(*)::int AS calls FROM review_lease WHERE firm_uuid = $1 AND until > $2',
        [firmUuid, now],
      );
      return row!.calls;
    },

    /** How many calls each person has finished on the day of `now` in the time zone, the busiest first. */
    async doneOnDay(firmUuid: string, now: Date, timeZone: string): Promise<{ user: string; done: number }[]> {
      return db.query(
        `SELECT by_uuid AS user, count(DISTINCT call_uuid)::int AS done FROM review
         WHERE firm_uuid = $1 AND done AND at >= date_trunc('day', $2::timestamptz, $3) AND at <= $2
         GROUP BY by_uuid ORDER BY done DESC, by_uuid`,
        [firmUuid, now, timeZone],
      );
    },
  };
}

function asked(values: Values, table: ListedTable, query: QueueQuery): string {
  let from = matching(values, table, query);
  if (query.skip.length > 0) from += ` AND c.uuid <> ALL (${values.add(query.skip, 'uuid[]')})`;
  if (query.ruleUuid === null) return from;
  return `${from} AND EXISTS (SELECT FROM sampled_call AS chosen WHERE chosen.firm_uuid = c.firm_uuid
    AND chosen.call_uuid = c.uuid AND chosen.rule_uuid = ${values.add(query.ruleUuid, 'uuid')})`;
}

/** The calls that wait for one reason and that the person may take, in order, or one of them. */
function waitingFor(
  values: Values,
  table: ListedTable,
  query: QueueQuery,
  reason: Reason,
  callUuid: string | null = null,
): string {
  const user = values.add(query.userUuid, 'uuid');
  // PostgreSQL refuses values that a statement does not name.
  const firm = () => values.add(query.firmUuid, 'uuid');
  const one = callUuid === null ? '' : `AND c.uuid = ${values.add(callUuid, 'uuid')}`;
  const from = `${asked(values, table, query)} AND c.status NOT IN ${UNFINISHED_SQL} ${one}
    AND NOT EXISTS (SELECT FROM review_lease AS lease WHERE lease.firm_uuid = c.firm_uuid AND lease.call_uuid = c.uuid
      AND lease.user_uuid <> ${user} AND lease.until > ${values.add(query.now, 'timestamptz')})
    AND NOT EXISTS (SELECT FROM assignment AS a WHERE a.firm_uuid = c.firm_uuid AND a.call_uuid = c.uuid
      AND a.user_uuid <> ${user} AND ${IS_WAITING})`;
  const those = (call: string) => `CROSS JOIN LATERAL (SELECT c.uuid FROM ${from} AND c.uuid = ${call}) AS c`;
  switch (reason) {
    case 'assigned':
      return `SELECT c.uuid FROM assignment AS a ${those('a.call_uuid')}
        WHERE a.firm_uuid = ${firm()} AND a.user_uuid = ${user} AND ${IS_WAITING} ORDER BY a.due, a.at, a.call_uuid`;
    case 'disputed':
      return `SELECT c.uuid FROM (SELECT call_uuid, min(at) AS at FROM dispute
          WHERE firm_uuid = ${firm()} AND status = 'open' AND by_uuid <> ${user} GROUP BY call_uuid) AS d ${those('d.call_uuid')}
        ORDER BY d.at, d.call_uuid`;
    case 'sampled':
      return `SELECT c.uuid FROM sampled_call AS s ${those('s.call_uuid')}
        WHERE s.firm_uuid = ${firm()} AND NOT s.is_done ORDER BY s.begins_at, s.call_uuid`;
    case 'uncertain':
      return `SELECT c.uuid FROM ${from} AND c.needs_review > 0 ORDER BY c.start_time, c.uuid`;
  }
}

export type ReviewQueue = ReturnType<typeof reviewQueue>;
