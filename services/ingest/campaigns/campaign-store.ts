import type { CampaignItem } from '@call-analysis/api/campaigns';
import type { Dated } from '@call-analysis/api/fields';
import { notFound } from '@call-analysis/fault';
import type { Database, Page, Sql } from '@call-analysis/postgres';
import type { z } from 'zod';
import type { CallRow } from '../calls/call-row.ts';
import { type CampaignStatus, requireActive } from './campaign-rules.ts';

/** As the API shows it, with the counters of its calls. */
export type Campaign = Dated<z.output<typeof CampaignItem>, 'starts_at' | 'ends_at' | 'created_at' | 'updated_at'>;
type CampaignRow = Omit<Campaign, 'calls' | 'average_score'>;
/** The properties that a client can change. */
type CampaignProperties = Pick<Campaign, 'name' | 'description' | 'starts_at' | 'ends_at'>;
export type NewCampaign = CampaignProperties & Pick<Campaign, 'external_id' | 'segment_type'>;

export interface CampaignName {
  readonly firmUuid: string;
  readonly uuid: string;
}

/** A range of uuids with the calls of one batch. All fields are null for the campaign's single uploads. */
interface CampaignRange {
  readonly batch: string | null;
  readonly first: string | null;
  readonly last: string | null;
}

/** The most changes that one statement folds. */
const CHANGES_PER_STATEMENT = 10_000;

const columns =
  'uuid, name, external_id, description, status, segment_type, starts_at, ends_at, created_at, updated_at';

/**
 * The number of calls of a campaign by status, and the sum of their scores. `campaign_tally` holds the sums, and
 * `campaign_change` holds changes that are not added to them yet. Triggers on the `call` table write a change whenever
 * calls are updated or deleted; `addCalls` and `countErased` write the others. Changes are written in the transaction that changes
 * the calls, so the counters always equal a count of the calls.
 */
const counts = `SELECT jsonb_build_object(
      'total', coalesce(sum(calls) FILTER (WHERE status <> 'erased'), 0),
      'by_status', coalesce(jsonb_object_agg(status, calls) FILTER (WHERE calls <> 0 AND status <> 'erased'), '{}'),
      'erased', coalesce(sum(calls) FILTER (WHERE status = 'erased'), 0)) AS calls,
    round(sum(score_sum) / nullif(sum(scored), 0), 1)::float8 AS average_score
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
    async add(tx: Sql, firmUuid: string, uuid: string, campaign: NewCampaign, now: Date): Promise<boolean> {
      const { name, external_id, description, segment_type, starts_at, ends_at } = campaign;
      const rows = await tx.query(
        `INSERT INTO campaign (firm_uuid, uuid, name, external_id, description, segment_type, starts_at, ends_at,
           created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
         ON CONFLICT (firm_uuid, external_id) WHERE external_id IS NOT NULL DO NOTHING RETURNING 1`,
        [firmUuid, uuid, name, external_id, description, segment_type, starts_at, ends_at, now],
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

    /** Newest first, of any of the statuses; without one, of all. */
    async list(
      firmUuid: string,
      { status, external_id }: { readonly status: readonly string[]; readonly external_id?: string | undefined },
      { page, size }: Page,
    ): Promise<{ count: number; items: Campaign[] }> {
      const matching = `FROM campaign WHERE firm_uuid = $1 AND ($2::text[] = '{}' OR status = ANY($2))
        AND ($3::text IS NULL OR external_id = $3)`;
      const filter = [firmUuid, status, external_id ?? null];
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

    /** The current status, which may change right afterwards. Fault NOT_FOUND. */
    async statusOf(firmUuid: string, uuid: string): Promise<CampaignStatus> {
      const [row] = await db.query<{ status: CampaignStatus }>(
        'SELECT status FROM campaign WHERE firm_uuid = $1 AND uuid = $2',
        [firmUuid, uuid],
      );
      if (row === undefined) throw notFound('campaign');
      return row.status;
    },

    /**
     * Checks that a campaign accepts calls, before any work is done for them. The status may change right afterwards. A
     * null uuid means no campaign.
     */
    async requireActive(firmUuid: string, uuid: string | null): Promise<void> {
      if (uuid !== null) requireActive(await this.statusOf(firmUuid, uuid));
    },

    /** Locks the campaign until the transaction ends, so that two actions on it run one after the other. */
    async lock(tx: Sql, firmUuid: string, uuid: string): Promise<CampaignRow> {
      return locked(tx, firmUuid, uuid, 'UPDATE');
    },

    async change(tx: Sql, firmUuid: string, uuid: string, properties: CampaignProperties, now: Date): Promise<void> {
      await tx.query(
        `UPDATE campaign SET name = $3, description = $4, starts_at = $5, ends_at = $6, updated_at = greatest(updated_at, $7)
         WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, uuid, properties.name, properties.description, properties.starts_at, properties.ends_at, now],
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

    async callRanges({ firmUuid, uuid }: CampaignName): Promise<CampaignRange[]> {
      const batches = await db.query<CampaignRange>(
        `SELECT uuid AS batch, first_call AS first, last_call AS last FROM batch
         WHERE firm_uuid = $1 AND campaign_uuid = $2 AND first_call IS NOT NULL ORDER BY first_call`,
        [firmUuid, uuid],
      );
      return [{ batch: null, first: null, last: null }, ...batches];
    },

    /** Queued calls in one range with uuids greater than `after`, in the order of uuids. */
    async queuedCalls(
      { firmUuid, uuid }: CampaignName,
      { batch, first, last }: CampaignRange,
      after: string | null,
      limit: number,
    ): Promise<string[]> {
      const from = after ?? first ?? '00000000-0000-0000-0000-000000000000';
      const values: unknown[] = [firmUuid, uuid, from, limit];
      const alone = 'batch_uuid IS NULL';
      const within = 'batch_uuid = $5 AND uuid <= $6';
      if (batch !== null) values.push(batch, last);
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM call WHERE firm_uuid = $1 AND campaign_uuid = $2 AND uuid ${after === null ? '>=' : '>'} $3
           AND ${batch === null ? alone : within} AND status = 'queued'
         ORDER BY uuid LIMIT $4`,
        values,
      );
      return rows.map((row) => row.uuid);
    },

    /**
     * Cancels those of the calls that are queued, and returns them. A call that another transaction has locked is
     * skipped, because the two transactions could deadlock.
     */
    async cancelCalls(
      tx: Sql,
      { firmUuid, uuids }: { firmUuid: string; uuids: readonly string[] },
      now: Date,
    ): Promise<{ uuid: string; source: CallRow['source'] }[]> {
      return tx.query(
        `UPDATE call SET status = 'canceled', updated_at = greatest(updated_at, $3),
           history = history || jsonb_build_object('status', 'canceled', 'at', $4::text, 'detail', 'its campaign was canceled')
         WHERE firm_uuid = $1 AND uuid = ANY(ARRAY(
           SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid = ANY($2) AND status = 'queued' FOR UPDATE SKIP LOCKED))
         RETURNING uuid, source`,
        [firmUuid, uuids, now, now.toISOString()],
      );
    },

    /**
     * Counts new calls into a campaign. The campaign stays active until the transaction ends, so no call is added after
     * the campaign was closed, and canceling sees every call added before. A long upload calls this last, because an action
     * on the campaign waits for the transaction. Fault INVALID_TRANSITION when the campaign is not active.
     */
    async addCalls(tx: Sql, firmUuid: string, uuid: string, calls: number): Promise<void> {
      requireActive((await locked(tx, firmUuid, uuid, 'SHARE')).status);
      if (calls === 0) return;
      await tx.query(
        `INSERT INTO campaign_change (campaign_uuid, status, calls, scored, score_sum) VALUES ($1, 'queued', $2, 0, 0)`,
        [uuid, calls],
      );
    },

    /** Counts an erased call. The campaign reports it separately from its calls. */
    async countErased(tx: Sql, campaignUuid: string): Promise<void> {
      await tx.query(
        `INSERT INTO campaign_change (campaign_uuid, status, calls, scored, score_sum) VALUES ($1, 'erased', 1, 0, 0)`,
        [campaignUuid],
      );
    },

    /**
     * Adds the changes to the tally, so that reading stays quick. Several processes may do this at the same time: each
     * takes changes that no other has locked, and the ordered inserts avoid deadlocks.
     */
    async foldTally(): Promise<void> {
      for (let folded = CHANGES_PER_STATEMENT; folded === CHANGES_PER_STATEMENT;) {
        const [result] = await db.query<{ folded: number }>(
          `WITH taken AS (
             DELETE FROM campaign_change WHERE id IN (
               SELECT id FROM campaign_change ORDER BY id LIMIT ${CHANGES_PER_STATEMENT} FOR UPDATE SKIP LOCKED)
             RETURNING campaign_uuid, status, calls, scored, score_sum),
           added AS (
             INSERT INTO campaign_tally AS tally (campaign_uuid, status, calls, scored, score_sum)
             SELECT campaign_uuid, status, sum(calls), sum(scored), sum(score_sum) FROM taken
             GROUP BY campaign_uuid, status ORDER BY campaign_uuid, status
             ON CONFLICT (campaign_uuid, status) DO UPDATE SET calls = tally.calls + excluded.calls,
               scored = tally.scored + excluded.scored, score_sum = tally.score_sum + excluded.score_sum)
           SELECT count(*)::int AS folded FROM taken`,
        );
        folded = result?.folded ?? 0;
      }
    },
  };
}

export type Campaigns = ReturnType<typeof campaigns>;
