import type { ScorecardBody } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import type { Database, Sql } from '@call-analysis/postgres';
import type { Scorecard } from './scorecard.ts';

/** A scorecard at one of its revisions, without what that says. */
export interface ScorecardRow {
  readonly uuid: string;
  readonly name: string;
  readonly segmentType: string | null;
  readonly isActive: boolean;
  readonly revision: number;
  readonly createdAt: Date;
  /** When the revision was made. */
  readonly updatedAt: Date;
}

export interface StoredScorecard extends ScorecardRow {
  readonly sections: ScorecardBody['sections'];
}

export interface RevisionRow {
  readonly revision: number;
  readonly name: string;
  readonly createdAt: Date;
  readonly createdBy: string | null;
}

/** One revision of one scorecard. */
export interface RevisionName {
  readonly uuid: string;
  readonly revision: number;
}

interface Page {
  readonly page: number;
  readonly size: number;
}

const ROW = `scorecard.uuid, body->>'name' AS name, segment_type AS "segmentType", is_active AS "isActive",
  scorecard_revision.revision, scorecard.created_at AS "createdAt", scorecard_revision.created_at AS "updatedAt"`;

/** The tables of scorecards. Whoever asks for a firm's gets that firm's alone. */
export function openScorecards(db: Database) {
  return {
    /**
     * Which revision calls of a firm and segment type are scored by, in the order asked: the active scorecard of the
     * segment type, else the firm's active default, else null.
     */
    async inForce(calls: readonly { firmUuid: string; segmentType: string }[]): Promise<(RevisionName | null)[]> {
      const rows = await db.prepared<{ uuid: string | null; revision: number | null }>(
        'scorecards-in-force',
        `SELECT uuid, revision
         FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS asked (firm, segment, place)
         LEFT JOIN LATERAL (
           SELECT uuid, revision FROM scorecard
           WHERE firm_uuid = firm AND is_active AND (segment_type = segment OR segment_type IS NULL)
           ORDER BY segment_type NULLS LAST LIMIT 1) AS chosen ON true
         ORDER BY place`,
        [calls.map(({ firmUuid }) => firmUuid), calls.map(({ segmentType }) => segmentType)],
      );
      return rows.map(({ uuid, revision }) => (uuid === null || revision === null ? null : { uuid, revision }));
    },

    async revisions(names: readonly RevisionName[]): Promise<Scorecard[]> {
      const rows = await db.prepared<RevisionName & { body: ScorecardBody }>(
        'scorecard-revisions',
        `SELECT scorecard_uuid AS uuid, revision, body
         FROM scorecard_revision JOIN unnest($1::uuid[], $2::int[]) AS asked (scorecard_uuid, revision)
         USING (scorecard_uuid, revision)`,
        [names.map(({ uuid }) => uuid), names.map(({ revision }) => revision)],
      );
      return rows.map(({ uuid, revision, body }) => ({ uuid, revision, ...body }));
    },

    /** Gives a firm the scorecard that every firm begins with, in force, unless it has it. */
    async addDefault(firmUuid: string, uuid: string, body: ScorecardBody): Promise<void> {
      // No index is named: two that come at once may collide in either of the unique ones first.
      await db.query(
        `WITH added AS (
           INSERT INTO scorecard (uuid, firm_uuid, is_default, is_active, created_at) VALUES ($1, $2, true, true, now())
           ON CONFLICT DO NOTHING RETURNING uuid)
         INSERT INTO scorecard_revision (scorecard_uuid, revision, body, created_at) SELECT uuid, 1, $3, now() FROM added`,
        [uuid, firmUuid, JSON.stringify(body)],
      );
    },

    /** Adds a scorecard that is not yet in force. */
    async add(
      added: { uuid: string; firmUuid: string; segmentType: string | null; by: string },
      body: ScorecardBody,
    ): Promise<void> {
      await db.query(
        `WITH added AS (
           INSERT INTO scorecard (uuid, firm_uuid, is_default, segment_type, created_at)
           VALUES ($1, $2, false, $3, now()) RETURNING uuid)
         INSERT INTO scorecard_revision (scorecard_uuid, revision, body, created_at, created_by)
         SELECT uuid, 1, $4, now(), $5 FROM added`,
        [added.uuid, added.firmUuid, added.segmentType, JSON.stringify(body), added.by],
      );
    },

    /** A scorecard that nobody else revises until `tx` ends. */
    async hold(tx: Sql, firmUuid: string, uuid: string): Promise<StoredScorecard> {
      await tx.query('SELECT FROM scorecard WHERE firm_uuid = $1 AND uuid = $2 FOR UPDATE', [firmUuid, uuid]);
      // A statement of its own, because the locking one sees the revision that was newest before it had to wait.
      return find(tx, firmUuid, uuid);
    },

    async addRevision(tx: Sql, { uuid, revision }: RevisionName, body: ScorecardBody, by: string): Promise<void> {
      await tx.query(
        `INSERT INTO scorecard_revision (scorecard_uuid, revision, body, created_at, created_by) VALUES ($1, $2, $3, now(), $4)`,
        [uuid, revision, JSON.stringify(body), by],
      );
      await tx.query('UPDATE scorecard SET revision = $2 WHERE uuid = $1', [uuid, revision]);
    },

    /** Puts one in force instead of the other of its firm and segment type. */
    async activate(tx: Sql, firmUuid: string, uuid: string): Promise<StoredScorecard> {
      const { segmentType } = await find(tx, firmUuid, uuid);
      // Two that are activated at once, of one segment type, come one after the other.
      await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || coalesce($2, ''), 0))`, [
        firmUuid,
        segmentType,
      ]);
      await tx.query(
        `UPDATE scorecard SET is_active = false
         WHERE firm_uuid = $1 AND segment_type IS NOT DISTINCT FROM $2 AND is_active AND uuid <> $3`,
        [firmUuid, segmentType, uuid],
      );
      await tx.query('UPDATE scorecard SET is_active = true WHERE firm_uuid = $1 AND uuid = $2', [firmUuid, uuid]);
      return find(tx, firmUuid, uuid);
    },

    /** At its newest revision, or at another. Fault: NOT_FOUND. */
    find: (firmUuid: string, uuid: string, revision?: number, sql: Sql = db) => find(sql, firmUuid, uuid, revision),

    /** The newest first. */
    async list(firmUuid: string, { page, size }: Page): Promise<{ count: number; items: ScorecardRow[] }> {
      const [{ count } = { count: 0 }] = await db.query<{ count: number }>(
        'SELECT count(*) FROM scorecard WHERE firm_uuid = $1',
        [firmUuid],
      );
      const items = await db.query<ScorecardRow>(
        `SELECT ${ROW} FROM scorecard JOIN scorecard_revision ON scorecard_uuid = uuid AND scorecard_revision.revision = scorecard.revision
         WHERE firm_uuid = $1 ORDER BY scorecard.created_at DESC, uuid DESC OFFSET $2 LIMIT $3`,
        [firmUuid, (page - 1) * size, size],
      );
      return { count, items };
    },

    /** The newest first. */
    async listRevisions(
      firmUuid: string,
      uuid: string,
      { page, size }: Page,
    ): Promise<{ count: number; items: RevisionRow[] }> {
      const [held] = await db.query<{ revision: number }>(
        'SELECT revision FROM scorecard WHERE firm_uuid = $1 AND uuid = $2',
        [firmUuid, uuid],
      );
      if (held === undefined) throw notFound('scorecard');
      const items = await db.query<RevisionRow>(
        `SELECT revision, body->>'name' AS name, created_at AS "createdAt", created_by AS "createdBy"
         FROM scorecard_revision WHERE scorecard_uuid = $1 AND revision <= $2 ORDER BY revision DESC OFFSET $3 LIMIT $4`,
        [uuid, held.revision, (page - 1) * size, size],
      );
      // Revisions are numbered from 1 without gaps.
      return { count: held.revision, items };
    },
  };
}

async function find(sql: Sql, firmUuid: string, uuid: string, revision?: number): Promise<StoredScorecard> {
  const [row] = await sql.query<StoredScorecard>(
    `SELECT ${ROW}, body->'sections' AS sections
     FROM scorecard JOIN scorecard_revision ON scorecard_uuid = uuid
     WHERE firm_uuid = $1 AND uuid = $2 AND scorecard_revision.revision = coalesce($3, scorecard.revision)`,
    [firmUuid, uuid, revision ?? null],
  );
  if (row === undefined) throw notFound(revision === undefined ? 'scorecard' : 'revision');
  return row;
}

export type Scorecards = ReturnType<typeof openScorecards>;
