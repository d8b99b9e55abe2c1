import { notFound } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import type { CampaignStatus } from './campaign-rules.ts';

/** The properties that a client can change. */
interface CampaignProperties {
  readonly name: string;
  readonly description: string | null;
  readonly startsAt: Date | null;
  readonly endsAt: Date | null;
}

interface CampaignRow extends CampaignProperties {
  readonly uuid: string;
  readonly externalId: string | null;
  readonly status: CampaignStatus;
  readonly segmentType: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A campaign with the counters of its calls. */
export interface Campaign extends CampaignRow {
  /** Without erased calls, as is `callsByStatus`. */
  readonly callsTotal: number;
  /** Statuses that no call has are absent. */
  readonly callsByStatus: Readonly<Record<string, number>>;
  readonly callsErased: number;
  /** Of the calls with a score, to one decimal; null when none has one. */
  readonly averageScore: number | null;
}

interface CampaignFilter {
  /** Any of these; empty matches all. */
  readonly status: readonly string[];
  readonly externalId: string | null;
}

export interface CampaignName {
  readonly firmUuid: string;
  readonly uuid: string;
}

const columns = `uuid, name, external_id AS "externalId", description, status, segment_type AS "segmentType",
  starts_at AS "startsAt", ends_at AS "endsAt", created_at AS "createdAt", updated_at AS "updatedAt"`;

/** The tally plus the changes that are not folded into it yet; see tally-store.ts. */
const counts = `SELECT coalesce(sum(calls) FILTER (WHERE status <> 'erased'), 0)::bigint AS "callsTotal",
    coalesce(jsonb_object_agg(status, calls) FILTER (WHERE calls <> 0 AND status <> 'erased'), '{}') AS "callsByStatus",
    coalesce(sum(calls) FILTER (WHERE status = 'erased'), 0)::bigint AS "callsErased",
    round(sum(score_sum) / nullif(sum(scored), 0), 1)::float8 AS "averageScore"
  FROM (
    SELECT status, sum(calls)::bigint AS calls, sum(scored) AS scored, sum(score_sum) AS score_sum FROM (
      SELECT status, calls, scored, score_sum FROM campaign_tally WHERE campaign_uuid = campaign.uuid
      UNION ALL
      SELECT status, calls, scored, score_sum FROM campaign_change WHERE campaign_uuid = campaign.uuid
    ) AS part GROUP BY status
  ) AS of_status`;

/** Every statement is limited to one firm, except that of maintenance. */
export function campaigns(db: Database) {
  async function locked(tx: Sql, firmUuid: string, uuid: string, strength: 'UPDATE' | 'SHARE'): Promise<CampaignRow> {
    const [row] = await tx.query<CampaignRow>(
      `SELECT ${columns} FROM campaign WHERE firm_uuid = $1 AND uuid = $2 FOR ${strength}`,
      [firmUuid, uuid],
    );
    if (row === undefined) throw notFound('campaign');
    return row;
  }

  return {
    /** Returns false and does nothing when the firm has a campaign with this external id. */
    async add(
      tx: Sql,
      firmUuid: string,
      uuid: string,
      campaign: CampaignProperties & { readonly externalId: string | null; readonly segmentType: string | null },
      now: Date,
    ): Promise<boolean> {
      const { name, externalId, description, segmentType, startsAt, endsAt } = campaign;
      const rows = await tx.query(
        `INSERT INTO campaign (firm_uuid, uuid, name, external_id, description, segment_type, starts_at, ends_at,
           created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
         ON CONFLICT (firm_uuid, external_id) WHERE external_id IS NOT NULL DO NOTHING RETURNING 1`,
        [firmUuid, uuid, name, externalId, description, segmentType, startsAt, endsAt, now],
      );
      return rows.length > 0;
    },

    async get(firmUuid: string, uuid: string): Promise<Campaign> {
      const [row] = await db.query<Campaign>(
        `SELECT ${columns}, tally.* FROM campaign CROSS JOIN LATERAL (${counts}) AS tally
         WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid],
      );
      if (row === undefined) throw notFound('campaign');
      return row;
    },

    /** Newest first. */
    async list(
      firmUuid: string,
      { status, externalId }: CampaignFilter,
      page: number,
      size: number,
    ): Promise<{ count: number; items: Campaign[] }> {
      const matching = `FROM campaign WHERE firm_uuid = $1 AND ($2::text[] = '{}' OR status = ANY($2))
        AND ($3::text IS NULL OR external_id = $3)`;
      const filter = [firmUuid, status, externalId];
      const [[total], items] = await Promise.all([
        db.query<{ count: number }>(`SELECT count(*)::int AS count ${matching}`, filter),
        db.query<Campaign>(
          `SELECT ${columns}, tally.* FROM (SELECT * ${matching} ORDER BY uuid DESC LIMIT $4 OFFSET $5) AS campaign
             CROSS JOIN LATERAL (${counts}) AS tally
           ORDER BY uuid DESC`,
          [...filter, size, (page - 1) * size],
        ),
      ]);
      return { count: total!.count, items };
    },

    /** The current status, which may change right afterwards. */
    async statusOf(firmUuid: string, uuid: string): Promise<CampaignStatus> {
      const [row] = await db.query<{ status: CampaignStatus }>(
        'SELECT status FROM campaign WHERE firm_uuid = $1 AND uuid = $2',
        [firmUuid, uuid],
      );
      if (row === undefined) throw notFound('campaign');
      return row.status;
    },

    /** Locks the campaign until the transaction ends, so that two actions on it run one after the other. */
    async lock(tx: Sql, firmUuid: string, uuid: string): Promise<CampaignRow> {
      return locked(tx, firmUuid, uuid, 'UPDATE');
    },

    /** Keeps the status unchanged until the transaction ends. Many transactions may do so at the same time. */
    async lockStatus(tx: Sql, firmUuid: string, uuid: string): Promise<CampaignStatus> {
      return (await locked(tx, firmUuid, uuid, 'SHARE')).status;
    },

    async change(tx: Sql, firmUuid: string, uuid: string, properties: CampaignProperties, now: Date): Promise<void> {
      await tx.query(
        `UPDATE campaign SET name = $3, description = $4, starts_at = $5, ends_at = $6, updated_at = greatest(updated_at, $7)
         WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid, properties.name, properties.description, properties.startsAt, properties.endsAt, now],
      );
    },

    /** The status `canceled` also marks the campaign's queued calls for canceling. */
    async setStatus(tx: Sql, firmUuid: string, uuid: string, status: CampaignStatus, now: Date): Promise<void> {
      await tx.query(
        `UPDATE campaign SET status = $3, calls_to_cancel = $4, updated_at = greatest(updated_at, $5)
         WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid, status, status === 'canceled', now],
      );
    },

    /** Canceled campaigns, of any firm, that may still have queued calls. */
    async withCallsToCancel(limit: number): Promise<CampaignName[]> {
      return db.query<CampaignName>(
        'SELECT firm_uuid AS "firmUuid", uuid FROM campaign WHERE calls_to_cancel ORDER BY firm_uuid, uuid LIMIT $1',
        [limit],
      );
    },

    /** Completed and canceled campaigns, of any firm, for which CampaignFinished was not published. */
    async unfinished(after: CampaignName | null, limit: number): Promise<CampaignName[]> {
      return db.query<CampaignName>(
        `SELECT firm_uuid AS "firmUuid", uuid FROM campaign
         WHERE NOT finish_published AND status IN ('completed', 'canceled')
           AND ($1::uuid IS NULL OR (firm_uuid, uuid) > ($1, $2)) ORDER BY firm_uuid, uuid LIMIT $3`,
        [after?.firmUuid ?? null, after?.uuid ?? null, limit],
      );
    },

    /** Returns false when another process marked it before. */
    async setFinishPublished(tx: Sql, { firmUuid, uuid }: CampaignName): Promise<boolean> {
      const rows = await tx.query(
        `UPDATE campaign SET finish_published = true WHERE firm_uuid = $1 AND uuid = $2 AND NOT finish_published
         RETURNING 1`,
        [firmUuid, uuid],
      );
      return rows.length > 0;
    },

    async setCallsCanceled({ firmUuid, uuid }: CampaignName): Promise<void> {
      await db.query('UPDATE campaign SET calls_to_cancel = false WHERE firm_uuid = $1 AND uuid = $2', [
        firmUuid,
        uuid,
      ]);
    },
  };
}

export type Campaigns = ReturnType<typeof campaigns>;
