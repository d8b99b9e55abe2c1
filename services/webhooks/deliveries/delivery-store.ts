import type { Dated } from '@call-analysis/api/fields';
import type { Delivery as DeliverySchema, DeliveryQuery } from '@call-analysis/api/webhooks';
import { notFound } from '@call-analysis/fault';
import { type Database, readPage, type Sql, columnsOf } from '@call-analysis/postgres';
import type { z } from 'zod';
import type { EventName } from '../endpoints/endpoint.ts';

/** A delivery as the API shows it. `uuid` is its webhook-id. */
export type Delivery = Dated<z.output<typeof DeliverySchema>, 'next_at' | 'created_at'>;

/** An event for all endpoints of a firm that subscribe to it. */
export interface NewDelivery {
  /** The event's id. */
  readonly uuid: string;
  readonly firmUuid: string;
  readonly event: EventName;
  readonly subject: string;
  readonly body: string;
}

const columns = 'uuid, event, status, attempts, last_status, last_error, next_at, created_at';

/** The error of a delivery that was not attempted because its endpoint is disabled. A replay sends it. */
const WHILE_DISABLED = 'the webhook is disabled; enable it and replay';

/** Pending and sent deliveries. Statements for users are limited to one endpoint, whose firm was checked. */
export function deliveries(db: Database) {
  return {
    /**
     * Adds a delivery for each endpoint that subscribes to the event. One that exists stays as it is, so an event that
     * arrives again is not sent again. For a disabled endpoint it is stored as failed. Returns the endpoints that have
     * something to send.
     */
    async add(tx: Sql, events: readonly NewDelivery[]): Promise<string[]> {
      const rows = await tx.query<{ endpoint: string }>(
        `INSERT INTO delivery (endpoint_uuid, uuid, firm_uuid, event, subject, body, status, last_error, next_at, created_at)
         SELECT endpoint.uuid, e.uuid, e.firm_uuid, e.event, e.subject, e.body,
           CASE WHEN enabled THEN 'pending' ELSE 'failed' END, CASE WHEN enabled THEN NULL ELSE '${WHILE_DISABLED}' END,
           CASE WHEN enabled THEN now() END, now()
         FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[]) AS e (uuid, firm_uuid, event, subject, body)
           JOIN endpoint ON endpoint.firm_uuid = e.firm_uuid AND e.event = ANY(events) AND deleted_at IS NULL
         ORDER BY endpoint.uuid, e.uuid
         ON CONFLICT DO NOTHING RETURNING endpoint_uuid AS endpoint`,
        [...columnsOf(events, 'uuid', 'firmUuid', 'event', 'subject', 'body')],
      );
      return [...new Set(rows.map(({ endpoint }) => endpoint))];
    },

    /** Adds a delivery for one endpoint, whether or not it subscribes to the event. */
    async addFor(tx: Sql, endpointUuid: string, event: NewDelivery): Promise<Delivery> {
      const [row] = await tx.query<Delivery>(
        `INSERT INTO delivery (endpoint_uuid, uuid, firm_uuid, event, subject, body, next_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, now(), now()) RETURNING ${columns}`,
        [endpointUuid, event.uuid, event.firmUuid, event.event, event.subject, event.body],
      );
      return row!;
    },

    /** Newest first. */
    async list(
      endpointUuid: string,
      { status, ...page }: z.output<typeof DeliveryQuery>,
    ): Promise<{ count: number; items: Delivery[] }> {
      const matching = "FROM delivery WHERE endpoint_uuid = $1 AND ($2::text[] = '{}' OR status = ANY($2))";
      const values = [endpointUuid, status];
      return readPage(db, { columns, matching, values, orderBy: 'uuid DESC' }, page);
    },

    /** Sends a delivery again now, with the schedule from its start. */
    async retry(tx: Sql, endpointUuid: string, uuid: string): Promise<Delivery> {
      const [row] = await tx.query<Delivery>(
        `UPDATE delivery SET status = 'pending', step = 0, next_at = now() WHERE endpoint_uuid = $1 AND uuid = $2
         RETURNING ${columns}`,
        [endpointUuid, uuid],
      );
      if (row === undefined) throw notFound('delivery');
      return row;
    },

    /**
     * Sends deliveries that were created in a period again, and those that wait for a retry now: up to `limit` of them,
     * in the order of uuids, beginning after `after`. Returns how many, and the last one.
     */
    async replay(
      endpointUuid: string,
      { from, to }: { readonly from: string; readonly to: string },
      after: string | null,
      limit: number,
    ): Promise<{ count: number; last: string | null }> {
      const [row] = await db.query<{ count: number; last: string | null }>(
        `WITH chosen AS (
           SELECT uuid FROM delivery WHERE endpoint_uuid = $1 AND created_at >= $2 AND created_at < $3
             AND ($4::uuid IS NULL OR uuid > $4) ORDER BY uuid LIMIT $5),
         replayed AS (
           UPDATE delivery SET status = 'pending', step = 0, next_at = least(next_at, now())
           FROM chosen WHERE endpoint_uuid = $1 AND delivery.uuid = chosen.uuid RETURNING 1)
         SELECT (SELECT count(*)::int FROM replayed) AS count,
           (SELECT uuid FROM chosen ORDER BY uuid DESC LIMIT 1) AS last`,
        [endpointUuid, from, to, after, limit],
      );
      return row!;
    },

    /** Removes everything about a subject, except the deliveries of one event. */
    async removeSubject(tx: Sql, firmUuid: string, subject: string, except: EventName): Promise<void> {
      await tx.query('DELETE FROM delivery WHERE firm_uuid = $1 AND subject = $2 AND event <> $3', [
        firmUuid,
        subject,
        except,
      ]);
    },

    /** Fails up to `limit` pending deliveries of disabled endpoints. Returns how many. */
    async failDisabled(limit: number): Promise<number> {
      const rows = await db.query(
        `UPDATE delivery SET status = 'failed', next_at = NULL, last_error = coalesce(last_error || '; ', '') || '${WHILE_DISABLED}'
         WHERE (endpoint_uuid, uuid) IN (
           SELECT delivery.endpoint_uuid, delivery.uuid FROM endpoint JOIN delivery ON endpoint_uuid = endpoint.uuid
           WHERE NOT enabled AND deleted_at IS NULL AND status = 'pending' LIMIT $1 FOR UPDATE OF delivery SKIP LOCKED)
         RETURNING 1`,
        [limit],
      );
      return rows.length;
    },

    /** Removes up to `limit` deliveries older than this many days, and returns their number. */
    async prune(days: number, limit: number): Promise<number> {
      const rows = await db.query(
        `DELETE FROM delivery WHERE ctid = ANY(ARRAY(
           SELECT ctid FROM delivery WHERE created_at < now() - make_interval(days => $1) LIMIT $2)) RETURNING 1`,
        [days, limit],
      );
      return rows.length;
    },

    /** How long the oldest delivery that is due has waited; null when none is due. */
    async oldestDueSeconds(): Promise<number | null> {
      const [row] = await db.query<{ seconds: number | null }>(
        `SELECT extract(epoch FROM now() - min(due.next_at))::float8 AS seconds
         FROM endpoint CROSS JOIN LATERAL (
           SELECT next_at FROM delivery WHERE endpoint_uuid = endpoint.uuid AND status = 'pending' AND next_at <= now()
           ORDER BY next_at LIMIT 1) AS due
         WHERE enabled`,
      );
      return row?.seconds ?? null;
    },
  };
}

export type Deliveries = ReturnType<typeof deliveries>;
