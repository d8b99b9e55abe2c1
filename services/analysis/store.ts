import type { Database, Sql } from '@call-analysis/postgres';
import { v7 as uuidv7 } from 'uuid';
import type { Scorecard, ScorecardBody } from './scorecard.ts';

export interface NewAnalysis {
  readonly uuid: string;
  readonly callUuid: string;
  readonly firmUuid: string;
  readonly attempt: number;
  readonly scorecardUuid: string;
  readonly revision: number;
  readonly score: number | null;
  readonly createdAt: Date;
}

interface ScorecardRow {
  firm_uuid: string;
  uuid: string;
  revision: number;
  body: ScorecardBody;
}

/** The only file that touches this service's tables. */
export function openStore(db: Database) {
  return {
    db,

    /** The newest revision of each firm's default scorecard, by firm. Firms without one are absent. */
    async defaultScorecards(firmUuids: readonly string[]): Promise<Map<string, Scorecard>> {
      const rows = await db.prepared<ScorecardRow>(
        'default-scorecards',
        `SELECT DISTINCT ON (firm_uuid) firm_uuid, uuid, revision, body
         FROM scorecard JOIN scorecard_revision ON scorecard_uuid = uuid
         WHERE is_default AND firm_uuid = ANY($1) ORDER BY firm_uuid, revision DESC`,
        [firmUuids],
      );
      return new Map(rows.map(({ firm_uuid, body, ...row }) => [firm_uuid, { ...row, ...body }]));
    },

    /** Gives a firm its first scorecard, unless it has got one meanwhile. */
    async addDefaultScorecard(firmUuid: string, body: ScorecardBody): Promise<void> {
      await db.query(
        `WITH added AS (
           INSERT INTO scorecard (uuid, firm_uuid, is_default, created_at) VALUES ($1, $2, true, now())
           ON CONFLICT (firm_uuid) WHERE is_default DO NOTHING RETURNING uuid)
         INSERT INTO scorecard_revision (scorecard_uuid, revision, body, created_at) SELECT uuid, 1, $3, now() FROM added`,
        [uuidv7(), firmUuid, JSON.stringify(body)],
      );
    },

    async addAnalyses(tx: Sql, analyses: readonly NewAnalysis[]): Promise<void> {
      await tx.query(
        `INSERT INTO analysis (uuid, call_uuid, firm_uuid, attempt, scorecard_uuid, revision, score, created_at)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::uuid[], $6::int[], $7::float8[],
           $8::timestamptz[])
         ON CONFLICT (call_uuid, attempt) DO NOTHING`,
        [
          analyses.map((each) => each.uuid),
          analyses.map((each) => each.callUuid),
          analyses.map((each) => each.firmUuid),
          analyses.map((each) => each.attempt),
          analyses.map((each) => each.scorecardUuid),
          analyses.map((each) => each.revision),
          analyses.map((each) => each.score),
          analyses.map((each) => each.createdAt),
        ],
      );
    },
  };
}

export type Store = ReturnType<typeof openStore>;
