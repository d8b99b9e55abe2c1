import type { Database, Sql } from '@call-analysis/postgres';
import type { CampaignName } from './campaign-store.ts';

/** A range of uuids with the calls of one batch. All fields are null for the campaign's single uploads. */
interface CampaignRange {
  readonly batch: string | null;
  readonly first: string | null;
  readonly last: string | null;
}

/** The calls of a campaign, as far as canceling needs them. */
export function campaignCalls(db: Database) {
  return {
    /** The ranges that contain the campaign's calls. */
    async ranges({ firmUuid, uuid }: CampaignName): Promise<CampaignRange[]> {
      const batches = await db.query<CampaignRange>(
        `SELECT uuid AS batch, first_call AS first, last_call AS last FROM batch
         WHERE firm_uuid = $1 AND campaign_uuid = $2 AND first_call IS NOT NULL ORDER BY first_call`,
        [firmUuid, uuid],
      );
      return [{ batch: null, first: null, last: null }, ...batches];
    },

    /** Queued calls in one range with uuids greater than `after`, in the order of uuids. */
    async queued(
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
    async cancel(
      tx: Sql,
      { firmUuid, uuids }: { firmUuid: string; uuids: readonly string[] },
      now: Date,
    ): Promise<{ uuid: string; source: string }[]> {
      return tx.query<{ uuid: string; source: string }>(
        `UPDATE call SET status = 'canceled', updated_at = greatest(updated_at, $3),
           history = history || jsonb_build_object('status', 'canceled', 'at', $4::text, 'detail', 'its campaign was canceled')
         WHERE firm_uuid = $1 AND uuid = ANY(ARRAY(
           SELECT uuid FROM call WHERE firm_uuid = $1 AND uuid = ANY($2) AND status = 'queued' FOR UPDATE SKIP LOCKED))
         RETURNING uuid, source`,
        [firmUuid, uuids, now, now.toISOString()],
      );
    },
  };
}

export type CampaignCalls = ReturnType<typeof campaignCalls>;
