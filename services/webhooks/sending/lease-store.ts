import { type Database, columnsOf } from '@call-analysis/postgres';
import { disabledReasons, type OldSecret } from '../endpoints/endpoint.ts';

/** An endpoint that this process sends to, as it is now. */
export interface LeasedEndpoint {
  readonly url: string;
  readonly secret: string;
  readonly oldSecrets: readonly OldSecret[];
}

/** A delivery that is due. */
export interface DueDelivery {
  readonly uuid: string;
  readonly event: string;
  readonly body: string;
  /** How many attempts of its schedule were made. */
  readonly step: number;
}

/** The position of a delivery in the order in which they are due. */
export interface DuePosition {
  /** As PostgreSQL writes it, to the microsecond. */
  readonly nextAt: string;
  readonly uuid: string;
}

/** The outcome of one attempt. */
export interface AttemptResult {
  readonly endpoint: string;
  readonly uuid: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly step: number;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly nextAt: Date | null;
  /** The endpoint answered that it is gone. */
  readonly isGone: boolean;
}

export interface DisabledEndpoint {
  readonly uuid: string;
  readonly firmUuid: string;
  readonly reason: string;
}

const BEGINNING: DuePosition = { nextAt: '-infinity', uuid: '00000000-0000-0000-0000-000000000000' };

/** An endpoint without success for this long is disabled. */
const FAILING_DAYS = 5;

/**
 * What sending needs of the database. An endpoint is leased to one process at a time, which alone reads its due
 * deliveries: so a delivery is written once for each attempt, and two processes do not send the same one.
 */
export function leases(db: Database) {
  return {
    /** Leases up to `limit` endpoints that have something to send and are not leased. Returns their uuids. */
    async acquire(owner: string, leaseMs: number, limit: number): Promise<string[]> {
      const rows = await db.prepared<{ uuid: string }>(
        'webhooks-acquire',
        `UPDATE endpoint SET leased_by = $1, leased_until = now() + make_interval(secs => $2)
         WHERE uuid IN (
           SELECT uuid FROM endpoint WHERE enabled AND (leased_until IS NULL OR leased_until < now())
             AND EXISTS (SELECT FROM delivery WHERE endpoint_uuid = endpoint.uuid AND status = 'pending' AND next_at <= now())
           LIMIT $3 FOR UPDATE SKIP LOCKED)
         RETURNING uuid`,
        [owner, leaseMs / 1000, limit],
      );
      return rows.map(({ uuid }) => uuid);
    },

    /**
     * Returns the URLs of the endpoints whose lease was extended. Any other was disabled or deleted, or its lease is
     * lost.
     */
    async renew(owner: string, leaseMs: number, uuids: readonly string[]): Promise<Map<string, string>> {
      const rows = await db.query<{ uuid: string; url: string }>(
        `UPDATE endpoint SET leased_until = now() + make_interval(secs => $2)
         WHERE uuid = ANY($3) AND leased_by = $1 AND enabled RETURNING uuid, url`,
        [owner, leaseMs / 1000, uuids],
      );
      return new Map(rows.map(({ uuid, url }) => [uuid, url]));
    },

    async release(owner: string, uuids: readonly string[]): Promise<void> {
      await db.query(
        'UPDATE endpoint SET leased_by = NULL, leased_until = NULL WHERE uuid = ANY($2) AND leased_by = $1',
        [owner, uuids],
      );
    },

    /**
     * The endpoint with up to `limit` due deliveries after a position, and the position of the last one. Null when the
     * lease is lost.
     */
    async due(
      owner: string,
      uuid: string,
      after: DuePosition | null,
      limit: number,
    ): Promise<{ endpoint: LeasedEndpoint; deliveries: DueDelivery[]; last: DuePosition | null } | null> {
      type Row = LeasedEndpoint & { uuid: string | null; event: string; body: string; step: number; nextAt: string };
      const rows = await db.prepared<Row>(
        'webhooks-due',
        // Only the first row has the endpoint.
        `SELECT CASE WHEN due.number > 1 THEN NULL ELSE url END AS url, CASE WHEN due.number > 1 THEN NULL ELSE secret END AS secret,
           CASE WHEN due.number > 1 THEN NULL ELSE old_secrets END AS "oldSecrets", due.uuid, event, body, step, "nextAt"
         FROM endpoint LEFT JOIN LATERAL (
           SELECT delivery.uuid, event, body, step, next_at::text AS "nextAt", row_number() OVER (ORDER BY next_at, delivery.uuid) AS number
           FROM delivery
           WHERE endpoint_uuid = endpoint.uuid AND status = 'pending' AND next_at <= now()
             AND (next_at, delivery.uuid) > ($3::timestamptz, $4::uuid)
           ORDER BY next_at, delivery.uuid LIMIT $5) AS due ON true
         WHERE endpoint.uuid = $2 AND enabled AND leased_by = $1
         ORDER BY due.number`,
        [owner, uuid, after?.nextAt ?? BEGINNING.nextAt, after?.uuid ?? BEGINNING.uuid, limit],
      );
      if (rows[0] === undefined) return null;
      const { url, secret, oldSecrets } = rows[0];
      const deliveries = rows.flatMap(({ uuid: delivery, event, body, step }) =>
        delivery === null ? [] : [{ uuid: delivery, event, body, step }],
      );
      const last = deliveries.length === 0 ? null : { nextAt: rows.at(-1)!.nextAt, uuid: deliveries.at(-1)!.uuid };
      return { endpoint: { url, secret, oldSecrets }, deliveries, last };
    },

    /** Which of these endpoints have something to send. */
    async withDue(uuids: readonly string[]): Promise<string[]> {
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM unnest($1::uuid[]) AS of (uuid) WHERE EXISTS (
           SELECT FROM delivery WHERE endpoint_uuid = of.uuid AND status = 'pending' AND next_at <= now())`,
        [uuids],
      );
      return rows.map(({ uuid }) => uuid);
    },

    /**
     * Stores the results of attempts, and disables the endpoints that are gone or have failed for too long. Returns
     * those that it disabled. A delivery that was erased, or delivered by another process, stays so.
     */
    async store(results: readonly AttemptResult[]): Promise<DisabledEndpoint[]> {
      const succeeded = new Set(results.filter(({ status }) => status === 'delivered').map(({ endpoint }) => endpoint));
      const all = new Set(results.map(({ endpoint }) => endpoint));
      const failed = [...all].filter((endpoint) => !succeeded.has(endpoint));
      const gone = [...new Set(results.filter(({ isGone }) => isGone).map(({ endpoint }) => endpoint))];
      await db.prepared(
        'webhooks-results',
        // An endpoint with a success is not failing any more.
        `WITH succeeded AS (UPDATE endpoint SET failing_since = NULL WHERE uuid = ANY($8) AND failing_since IS NOT NULL)
         UPDATE delivery SET status = r.status, attempts = attempts + 1, step = r.step, last_status = r.last_status,
           last_error = r.last_error, next_at = r.next_at
         FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[], $5::int[], $6::text[], $7::timestamptz[])
           AS r (endpoint, uuid, status, step, last_status, last_error, next_at)
         WHERE delivery.endpoint_uuid = r.endpoint AND delivery.uuid = r.uuid AND delivery.status = 'pending'`,
        [
          ...columnsOf(results, 'endpoint', 'uuid', 'status', 'step', 'lastStatus', 'lastError', 'nextAt'),
          [...succeeded],
        ],
      );
      if (failed.length === 0 && gone.length === 0) return [];
      return db.query<DisabledEndpoint>(
        `WITH failing AS (
           UPDATE endpoint SET failing_since = now() WHERE uuid = ANY($1) AND failing_since IS NULL AND uuid <> ALL($2))
         UPDATE endpoint SET enabled = false, leased_by = NULL, leased_until = NULL,
           disabled_reason = CASE WHEN uuid = ANY($2) THEN '${disabledReasons.gone}' ELSE '${disabledReasons.failing}' END
         WHERE enabled AND (uuid = ANY($2)
           OR (uuid = ANY($1) AND failing_since < now() - interval '${FAILING_DAYS} days'))
         RETURNING uuid, firm_uuid AS "firmUuid", disabled_reason AS reason`,
        [failed, gone],
      );
    },
  };
}

export type Leases = ReturnType<typeof leases>;
