import { notFound } from '@call-analysis/fault';
import { type Database, type Page, readPage, type Sql } from '@call-analysis/postgres';
import { disabledReasons, type Endpoint, type OldSecret } from './endpoint.ts';

const columns = 'uuid, url, events, description, enabled, disabled_reason, created_at';

interface Secrets {
  readonly secret: string;
  readonly oldSecrets: readonly OldSecret[];
}

type EndpointChange = Pick<Endpoint, 'url' | 'events' | 'description' | 'enabled'>;

/** The endpoints of firms. Statements for users are limited to one firm. */
export function endpoints(db: Database) {
  return {
    async add(tx: Sql, firmUuid: string, endpoint: Endpoint, secret: string): Promise<void> {
      const { uuid, url, events, description, created_at: createdAt } = endpoint;
      await tx.query(
        `INSERT INTO endpoint (uuid, firm_uuid, url, events, description, secret, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [uuid, firmUuid, url, events, description, secret, createdAt],
      );
    },

    /** Those of the firms that have an endpoint. */
    async firmsWithAny(firmUuids: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await db.prepared<{ firm: string }>(
        'webhooks-firms',
        'SELECT DISTINCT firm_uuid AS firm FROM endpoint WHERE firm_uuid = ANY($1::uuid[]) AND deleted_at IS NULL',
        [firmUuids],
      );
      return new Set(rows.map(({ firm }) => firm));
    },

    /** Locks the firm's endpoints until the transaction ends, and counts them. */
    async countLocked(tx: Sql, firmUuid: string): Promise<number> {
      await tx.query("SELECT pg_advisory_xact_lock(hashtext('endpoints'), hashtext($1))::text", [firmUuid]);
      const [row] = await tx.query<{ count: number }>(
        'SELECT count(*)::int AS count FROM endpoint WHERE firm_uuid = $1 AND deleted_at IS NULL',
        [firmUuid],
      );
      return row!.count;
    },

    async get(firmUuid: string, uuid: string, sql: Sql = db, lock: '' | 'FOR UPDATE' = ''): Promise<Endpoint> {
      const [row] = await sql.query<Endpoint>(
        `SELECT ${columns} FROM endpoint WHERE firm_uuid = $1 AND uuid = $2 AND deleted_at IS NULL ${lock}`,
        [firmUuid, uuid],
      );
      if (row === undefined) throw notFound('webhook');
      return row;
    },

    /** Newest first. */
    async list(firmUuid: string, page: Page): Promise<{ count: number; items: Endpoint[] }> {
      const matching = 'FROM endpoint WHERE firm_uuid = $1 AND deleted_at IS NULL';
      return readPage(db, { columns, matching, values: [firmUuid], orderBy: 'created_at DESC, uuid DESC' }, page);
    },

    /** Enabling an endpoint, or another URL, restarts its five days without success. */
    async change(tx: Sql, uuid: string, change: EndpointChange): Promise<void> {
      await tx.query(
        `UPDATE endpoint SET url = $2, events = $3, description = $4,
           disabled_reason = CASE WHEN $5 THEN NULL ELSE coalesce(disabled_reason, $6) END,
           failing_since = CASE WHEN ($5 AND NOT enabled) OR url <> $2 THEN NULL ELSE failing_since END, enabled = $5
         WHERE uuid = $1`,
        [uuid, change.url, change.events, change.description, change.enabled, disabledReasons.byUser],
      );
    },

    async secretsOf(tx: Sql, uuid: string): Promise<Secrets> {
      const [row] = await tx.query<Secrets>(
        'SELECT secret, old_secrets AS "oldSecrets" FROM endpoint WHERE uuid = $1',
        [uuid],
      );
      return row!;
    },

    async setSecrets(tx: Sql, uuid: string, { secret, oldSecrets }: Secrets): Promise<void> {
      await tx.query('UPDATE endpoint SET secret = $2, old_secrets = $3 WHERE uuid = $1', [
        uuid,
        secret,
        JSON.stringify(oldSecrets),
      ]);
    },

    /** Nothing is sent to it any more. `removeDeleted` removes what is stored. */
    async markDeleted(tx: Sql, uuid: string): Promise<void> {
      await tx.query("UPDATE endpoint SET deleted_at = now(), enabled = false, secret = '' WHERE uuid = $1", [uuid]);
    },

    /** Marks all endpoints of a firm that was removed. */
    async markDeletedOfFirm(tx: Sql, firmUuid: string): Promise<void> {
      await tx.query(
        "UPDATE endpoint SET deleted_at = now(), enabled = false, secret = '' WHERE firm_uuid = $1 AND deleted_at IS NULL",
        [firmUuid],
      );
    },

    /** Removes up to `limit` deliveries of a firm, and the endpoints that have none. */
    async removeOfFirm(
      tx: Sql,
      firmUuid: string,
      limit: number,
    ): Promise<{ readonly what: string; readonly count: number }[]> {
      const deliveries = await tx.query(
        `DELETE FROM delivery WHERE (endpoint_uuid, uuid) IN (
           SELECT delivery.endpoint_uuid, delivery.uuid FROM endpoint JOIN delivery ON endpoint_uuid = endpoint.uuid
           WHERE endpoint.firm_uuid = $1 LIMIT $2) RETURNING 1`,
        [firmUuid, limit],
      );
      const removed = await tx.query(
        `DELETE FROM endpoint WHERE firm_uuid = $1
           AND NOT EXISTS (SELECT FROM delivery WHERE endpoint_uuid = endpoint.uuid) RETURNING 1`,
        [firmUuid],
      );
      return [
        { what: 'webhook_delivery', count: deliveries.length },
        { what: 'webhook', count: removed.length },
      ];
    },

    /**
     * Removes up to `limit` deliveries of deleted endpoints, and the endpoints that have none. Returns how many rows.
     */
    async removeDeleted(limit: number): Promise<number> {
      const deliveries = await db.query(
        `DELETE FROM delivery WHERE (endpoint_uuid, uuid) IN (
           SELECT delivery.endpoint_uuid, delivery.uuid FROM endpoint JOIN delivery ON endpoint_uuid = endpoint.uuid
           WHERE deleted_at IS NOT NULL LIMIT $1) RETURNING 1`,
        [limit],
      );
      if (deliveries.length > 0) return deliveries.length;
      const removed = await db.query(
        `DELETE FROM endpoint WHERE deleted_at < now() - interval '1 minute'
           AND NOT EXISTS (SELECT FROM delivery WHERE endpoint_uuid = endpoint.uuid) RETURNING 1`,
      );
      return removed.length;
    },

    /** How many endpoints get events, and how many do not, for each reason. */
    async countByState(): Promise<{ state: string; count: number }[]> {
      return db.query(
        `SELECT coalesce(disabled_reason, 'enabled') AS state, count(*)::int AS count FROM endpoint
         WHERE deleted_at IS NULL GROUP BY 1`,
      );
    },
  };
}

export type Endpoints = ReturnType<typeof endpoints>;
