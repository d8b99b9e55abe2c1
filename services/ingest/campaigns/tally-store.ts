import type { Database, Sql } from '@call-analysis/postgres';

/** The most changes that one statement folds. */
const CHANGES_PER_STATEMENT = 10_000;

/**
 * The number of calls of a campaign by status, and the sum of their scores. `campaign_tally` holds the sums, and
 * `campaign_change` holds changes that are not added to them yet. Triggers on the `call` table write a change whenever
 * calls are updated or deleted; the methods here write the others. Changes are written in the transaction that changes
 * the calls, so the counters always equal a count of the calls.
 */
export function tally(db: Database) {
  return {
    /** Counts new queued calls of a campaign. */
    async addQueued(tx: Sql, campaignUuid: string, calls: number): Promise<void> {
      await tx.query(
        `INSERT INTO campaign_change (campaign_uuid, status, calls, scored, score_sum) VALUES ($1, 'queued', $2, 0, 0)`,
        [campaignUuid, calls],
      );
    },

    /** Counts an erased call. The campaign reports it separately from its calls. */
    async addErased(tx: Sql, campaignUuid: string): Promise<void> {
      await tx.query(
        `INSERT INTO campaign_change (campaign_uuid, status, calls, scored, score_sum) VALUES ($1, 'erased', 1, 0, 0)`,
        [campaignUuid],
      );
    },

    /**
     * Adds the changes to the tally, so that reading stays quick. Several processes may do this at the same time: each
     * takes changes that no other has locked, and the ordered inserts avoid deadlocks.
     */
    async fold(): Promise<void> {
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

export type Tally = ReturnType<typeof tally>;
