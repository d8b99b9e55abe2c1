import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { confidential, type Database, type Sql, columnsOf } from '@call-analysis/postgres';
import type { TranscriptReadyEvent } from './analysts/make-analysis.ts';

/** A request that this process may work on until its lease ends. */
export interface ClaimedRequest {
  readonly event: TranscriptReadyEvent;
  readonly lease: string;
  readonly tries: number;
  readonly announced: string | null;
  /** The firm's budget is spent, and it wants the fallbacks to answer. */
  readonly isSpent: boolean;
  /** The firm has a budget, so what a call costs must be stored before another is asked in its place. */
  readonly hasBudget: boolean;
}

type Row = Omit<ClaimedRequest, 'event'> & { readonly event: Buffer };

const fast = { level: 1 };
export const LEASE_SECONDS = 60;

/** The month that spending counts for, in UTC. */
const MONTH = `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')`;
/**
 * Firms whose budget of the month is spent. A budget in another currency than the prices, which the parameter names, stops
 * nothing.
 */
const spentFirms = (currency: string) => `SELECT budget.firm_uuid, budget.when_spent FROM budget
  LEFT JOIN spending ON spending.firm_uuid = budget.firm_uuid AND spending.currency = budget.currency AND spending.month = ${MONTH}
  WHERE budget.amount <= coalesce(spending.amount, 0) AND (${currency}::text IS NULL OR budget.currency = ${currency})`;
const firmsWaitingForBudget = (currency: string) =>
  `SELECT firm_uuid FROM (${spentFirms(currency)}) AS spent WHERE when_spent = 'wait'`;

/** The calls that wait for the language model. `currency` is that of its prices, null without prices. */
export function openRequestStore(db: Database, currency: string | null) {
  return {
    async add(tx: Sql, events: readonly TranscriptReadyEvent[]): Promise<void> {
      await tx.query(
        `INSERT INTO model_request (event_id, firm_uuid, call_uuid, attempt, priority, event)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::int[], $6::bytea[])
         ON CONFLICT (event_id) DO NOTHING`,
        [
          ...columnsOf(events, 'id', 'firmuuid', 'subject'),
          events.map(({ data }) => data.attempt),
          events.map(({ priority }) => priority),
          events.map((event) => confidential(deflateRawSync(JSON.stringify(event), fast))),
        ],
      );
    },

    /**
     * Claims up to `count` requests under a lease. Firms take turns: the one with the fewest requests in progress is next,
     * so that one firm's million calls do not hold up another's ten. A firm whose budget is spent has no turn, unless its
     * fallbacks are to answer.
     */
    async claim(lease: string, count: number): Promise<ClaimedRequest[]> {
      return db.transaction(async (tx) => {
        // Two claims at the same time would both see the same firms with the same work in progress.
        await tx.query(`SELECT pg_advisory_xact_lock(hashtext(current_schema()::text || ' model_request'))::text`);
        const rows = await tx.query<Row>(
          `WITH RECURSIVE firm AS (
             (SELECT firm_uuid FROM model_request ORDER BY firm_uuid LIMIT 1)
             UNION ALL
             SELECT (SELECT next.firm_uuid FROM model_request AS next WHERE next.firm_uuid > firm.firm_uuid
               ORDER BY next.firm_uuid LIMIT 1)
             FROM firm WHERE firm.firm_uuid IS NOT NULL),
           spent AS (${spentFirms('$3')}),
           busy AS (
             SELECT firm_uuid, count(*) AS active FROM model_request
             WHERE leased_until IS NOT NULL AND leased_until > now() GROUP BY firm_uuid),
           due AS (
             SELECT candidate.event_id, spent.firm_uuid IS NOT NULL AS is_spent
             FROM firm LEFT JOIN busy USING (firm_uuid) LEFT JOIN spent USING (firm_uuid)
             CROSS JOIN LATERAL (
               SELECT event_id, row_number() OVER (ORDER BY priority, received_at) AS turn FROM (
                 SELECT event_id, priority, received_at FROM model_request AS one
                 WHERE one.firm_uuid = firm.firm_uuid AND next_at <= now() AND (leased_until IS NULL OR leased_until <= now())
                 ORDER BY priority, received_at LIMIT $2) AS first_ones) AS candidate
             WHERE firm.firm_uuid IS NOT NULL AND spent.when_spent IS DISTINCT FROM 'wait'
             ORDER BY coalesce(busy.active, 0) + candidate.turn LIMIT $2)
           UPDATE model_request SET lease = $1, leased_until = now() + interval '${LEASE_SECONDS} seconds', tries = tries + 1
           FROM due WHERE model_request.event_id = due.event_id
           RETURNING event, lease, tries, announced, due.is_spent AS "isSpent",
             EXISTS (SELECT FROM budget WHERE budget.firm_uuid = model_request.firm_uuid AND amount IS NOT NULL) AS "hasBudget"`,
          [lease, count, currency],
        );
        return rows.map(({ event, ...row }) => ({ ...row, event: eventOf(event) }));
      });
    },

    async extend(lease: string): Promise<void> {
      // A locked one is being removed, together with others: waiting for it would deadlock.
      await db.query(
        `UPDATE model_request SET leased_until = now() + interval '${LEASE_SECONDS} seconds' WHERE event_id IN (
           SELECT event_id FROM model_request WHERE lease = $1 FOR UPDATE SKIP LOCKED)`,
        [lease],
      );
    },

    /** Gives requests back that were not worked on: these, or all of the lease. */
    async handBack(lease: string, eventIds: readonly string[] | null = null): Promise<void> {
      await db.query(
        `UPDATE model_request SET lease = NULL, leased_until = NULL, tries = greatest(0, tries - 1)
         WHERE lease = $1 AND ($2::uuid[] IS NULL OR event_id = ANY($2))`,
        [lease, eventIds],
      );
    },

    async isSpent(firmUuid: string): Promise<boolean> {
      return (await db.query(`${spentFirms('$2')} AND budget.firm_uuid = $1`, [firmUuid, currency])).length > 0;
    },

    async postpone(
      tx: Sql,
      eventId: string,
      lease: string,
      delayMs: number,
      announced: string | null,
      isFailure: boolean,
    ): Promise<void> {
      await tx.query(
        `UPDATE model_request SET lease = NULL, leased_until = NULL, next_at = now() + $3 * interval '1 millisecond',
           announced = coalesce($4, announced), first_failed_at = CASE WHEN $5 THEN coalesce(first_failed_at, now()) END
         WHERE event_id = $1 AND lease = $2`,
        [eventId, lease, Math.round(delayMs), announced, isFailure],
      );
    },

    /** Removes a request that is done. False if it was erased, canceled, or is another process's by now. */
    async remove(tx: Sql, eventId: string, lease: string): Promise<boolean> {
      const removed = 'DELETE FROM model_request WHERE event_id = $1 AND lease = $2 RETURNING 1';
      return (await tx.query(removed, [eventId, lease])).length > 0;
    },

    /** Removes the requests of calls, in the order of their ids: two transactions that remove several of the same lock them in one order. */
    async removeCalls(tx: Sql, firmUuid: string, callUuids: readonly string[]): Promise<void> {
      await tx.query(
        `DELETE FROM model_request WHERE event_id IN (
           SELECT event_id FROM model_request WHERE firm_uuid = $1 AND call_uuid = ANY($2::uuid[]) ORDER BY event_id FOR UPDATE)`,
        [firmUuid, callUuids],
      );
    },

    /** Takes requests whose waiting is to be announced, and notes the reason: those of firms that wait for a budget only. */
    async takeUnannounced(
      tx: Sql,
      reason: string,
      { ofSpentFirms, limit }: { ofSpentFirms: boolean; limit: number },
    ): Promise<TranscriptReadyEvent[]> {
      const firms = ofSpentFirms ? `AND firm_uuid IN (${firmsWaitingForBudget('$3')})` : '';
      const rows = await tx.query<{ event: Buffer }>(
        `UPDATE model_request SET announced = $1 WHERE event_id IN (
           SELECT event_id FROM model_request WHERE announced IS NULL ${firms}
           ORDER BY received_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         RETURNING event`,
        ofSpentFirms ? [reason, limit, currency] : [reason, limit],
      );
      return rows.map(({ event }) => eventOf(event));
    },

    /** For requests that wait for a budget, the time in which the server must answer begins anew. */
    async forgetFailuresOfSpentFirms(): Promise<void> {
      await db.query(
        `UPDATE model_request SET first_failed_at = NULL WHERE event_id IN (
           SELECT event_id FROM model_request
           WHERE first_failed_at IS NOT NULL AND firm_uuid IN (${firmsWaitingForBudget('$1')}) FOR UPDATE SKIP LOCKED)`,
        [currency],
      );
    },

    /** Removes and returns requests that have waited for the server, and for nothing else, for too long. */
    async takeHopeless(
      tx: Sql,
      giveUpAfterMs: number,
      limit: number,
    ): Promise<(ClaimedRequest & { reason: string | null })[]> {
      const rows = await tx.query<Row & { reason: string | null }>(
        `WITH cutoff AS (SELECT now() - $1 * interval '1 millisecond' AS at),
         outage AS (SELECT since, reason FROM model_outage)
         DELETE FROM model_request WHERE event_id IN (
           SELECT event_id FROM model_request, cutoff
           WHERE (leased_until IS NULL OR leased_until <= now()) AND received_at < cutoff.at
             AND (first_failed_at < cutoff.at OR EXISTS (SELECT FROM outage WHERE since < cutoff.at))
             AND firm_uuid NOT IN (${firmsWaitingForBudget('$3')})
           ORDER BY received_at LIMIT $2 FOR UPDATE SKIP LOCKED)
         RETURNING event, '' AS lease, tries, announced, false AS "isSpent", false AS "hasBudget", coalesce((SELECT reason FROM outage), announced) AS reason`,
        [giveUpAfterMs, limit, currency],
      );
      return rows.map(({ event, ...row }) => ({ ...row, event: eventOf(event) }));
    },

    async noteOutage(reason: string): Promise<void> {
      await db.query(
        'INSERT INTO model_outage (id, reason) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET reason = excluded.reason',
        [reason],
      );
    },

    async hasOutage(): Promise<boolean> {
      return (await db.query('SELECT 1 FROM model_outage')).length > 0;
    },

    async endOutage(): Promise<void> {
      await db.query('DELETE FROM model_outage');
    },

    async findStructured(url: string, model: string): Promise<string | null> {
      const rows = await db.query<{ structured: string }>(
        'SELECT structured FROM model_capability WHERE url = $1 AND model = $2',
        [url, model],
      );
      return rows[0]?.structured ?? null;
    },

    async saveStructured(url: string, model: string, structured: string): Promise<void> {
      await db.query(
        `INSERT INTO model_capability (url, model, structured) VALUES ($1, $2, $3)
         ON CONFLICT (url, model) DO UPDATE SET structured = excluded.structured`,
        [url, model, structured],
      );
    },
  };
}

function eventOf(stored: Buffer): TranscriptReadyEvent {
  return JSON.parse(inflateRawSync(stored).toString()) as TranscriptReadyEvent;
}
