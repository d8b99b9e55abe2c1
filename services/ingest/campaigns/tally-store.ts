import type { Database, Sql } from '@call-analysis/postgres';

/** Changes added to the tally in one statement. */
const FOLDED_AT_ONCE = 10_000;

/**
 * How many calls a campaign has of each status, and what their scores come to. It is kept in the transactions that add,
 * change and remove calls, so it always is what counting the calls would give; the migration says how.
 */
export function tally(db: Database) {
  return {
    /** So many queued calls have come into a campaign. Changes of calls count themselves. */
    async came(tx: Sql, campaignUuid: string, calls: number): Promise<void> {
      await tx.query(
        `INSERT INTO campaign_change (campaign_uuid, status, calls, scored, score_sum) VALUES ($1, 'queued', $2, 0, 0)`,
        [campaignUuid, calls],
      );
    },

    /** A call of a campaign was erased: as one that was there once it goes on counting. */
    async erased(tx: Sql, campaignUuid: string): Promise<void> {
      await tx.query(
        `INSERT INTO campaign_change (campaign_uuid, status, calls, scored, score_sum) VALUES ($1, 'erased', 1, 0, 0)`,
        [campaignUuid],
      );
    },

    /**
     * Adds up what has changed, so that reading stays quick. Several processes may do it at the same time: each takes
     * changes that no other has, and the order spares them deadlocks.
     */
    async fold(): Promise<void> {
      for (let folded = FOLDED_AT_ONCE; folded === FOLDED_AT_ONCE;) {
        const [result] = await db.query<{ folded: number }>(
          `WITH taken AS (
             DELETE FROM campaign_change WHERE id IN (
               SELECT id FROM campaign_change ORDER BY id LIMIT ${FOLDED_AT_ONCE} FOR UPDATE SKIP LOCKED)
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
