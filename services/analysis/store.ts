import type { Database, Sql } from '@call-analysis/postgres';
import { openMoneyStore } from './money/money-store.ts';
import { openRequestStore } from './request-store.ts';
import { openScorecardStore } from './scorecards/scorecard-store.ts';

/**
 * The database of this service. Its tables are queried by this file and the stores that it opens. `currency` is that of the
 * language model's prices.
 */
export function openStore(db: Database, { currency = null }: { readonly currency?: string | null | undefined } = {}) {
  return {
    /** For transactions, and for the tables of claims and tombstones that shared packages use. */
    db,

    scorecards: openScorecardStore(db),
    requests: openRequestStore(db, currency),
    money: openMoneyStore(db),

    /** The data of a removed firm. Each function removes some rows and returns their number. */
    firmRows: [
      removal(
        'waiting_analysis',
        'DELETE FROM model_request WHERE event_id IN (SELECT event_id FROM model_request WHERE firm_uuid = $1 ORDER BY event_id LIMIT $2 FOR UPDATE)',
      ),
      // Not in groups, because there is no index for them.
      removal('analysis_record', 'DELETE FROM analysis WHERE firm_uuid = $1 AND $2 > 0'),
      removal('scorecard', 'DELETE FROM scorecard WHERE firm_uuid = $1 AND $2 > 0'),
      removal(
        'usage_record',
        'DELETE FROM model_usage WHERE uuid IN (SELECT uuid FROM model_usage WHERE firm_uuid = $1 LIMIT $2)',
      ),
      removal(
        'speech_record',
        'DELETE FROM speech_usage WHERE event_id IN (SELECT event_id FROM speech_usage WHERE firm_uuid = $1 LIMIT $2)',
      ),
      removal('spending', 'DELETE FROM spending WHERE firm_uuid = $1 AND $2 > 0'),
      removal('budget', 'DELETE FROM budget WHERE firm_uuid = $1 AND $2 > 0'),
      removal(
        null,
        'DELETE FROM erased_subject WHERE (firm_uuid, subject) IN (SELECT firm_uuid, subject FROM erased_subject WHERE firm_uuid = $1 AND subject <> $1 LIMIT $2)',
      ),
    ],

    /** Rows that a service of the last release has written. */
    async removeAnalyses(tx: Sql, firmUuid: string, callUuid: string): Promise<void> {
      await tx.query('DELETE FROM analysis WHERE firm_uuid = $1 AND call_uuid = $2', [firmUuid, callUuid]);
    },
  };
}

function removal(what: string | null, statement: string) {
  return async (tx: Sql, firmUuid: string, limit: number) => {
    // A large firm's analyses are removed by one statement.
    await tx.query(`SET LOCAL statement_timeout = '1h'`);
    return [{ what, count: (await tx.query(`${statement} RETURNING 1`, [firmUuid, limit])).length }];
  };
}

export type Store = ReturnType<typeof openStore>;
