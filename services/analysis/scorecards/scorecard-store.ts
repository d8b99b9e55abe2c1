import type { Dated } from '@call-analysis/api/fields';
import type { RevisionPage, ScorecardPage } from '@call-analysis/api/scorecards';
import { isFirmRemoved } from '@call-analysis/call-processing';
import type { Language, ScorecardBody } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import { type Database, type Page, readPage, type Sql } from '@call-analysis/postgres';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import { defaultScorecardIn } from './default-scorecard.ts';
import type { Scorecard } from './scorecard.ts';

/** A scorecard at one of its revisions, without its sections. */
type ScorecardRow = Dated<z.output<typeof ScorecardPage>['items'][number], 'created_at' | 'updated_at'>;
type RevisionRow = Dated<z.output<typeof RevisionPage>['items'][number], 'created_at'>;

export interface StoredScorecard extends ScorecardRow {
  readonly sections: ScorecardBody['sections'];
}

export interface RevisionId {
  readonly uuid: string;
  readonly revision: number;
}

/** Calls of one firm and segment type are scored by the same scorecard. */
export interface CallKind {
  readonly firmUuid: string;
  readonly segmentType: string;
}

const ROW = `scorecard.uuid, body->>'name' AS name, segment_type, is_active, scorecard_revision.revision,
  scorecard.created_at, scorecard_revision.created_at AS updated_at`;

/** What use cases of scorecards need of the database. */
export interface ScorecardUse {
  readonly db: Database;
  readonly scorecards: ReturnType<typeof openScorecardStore>;
}

/** The scorecards and their revisions. A method that takes a firm's uuid finds the scorecards of that firm only. */
export function openScorecardStore(db: Database) {
  return {
    /**
     * The revision that each kind of call is scored by, in order: the active scorecard of the segment type, else the
     * firm's active scorecard without a segment type, else null.
     */
    async findActive(kinds: readonly CallKind[]): Promise<(RevisionId | null)[]> {
      const rows = await db.prepared<{ uuid: string | null; revision: number | null }>(
        'active-scorecards',
        `SELECT uuid, revision
         FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS kind (firm, segment, position)
         LEFT JOIN LATERAL (
           SELECT uuid, revision FROM scorecard
           WHERE firm_uuid = firm AND is_active AND (segment_type = segment OR segment_type IS NULL)
           ORDER BY segment_type NULLS LAST LIMIT 1) AS chosen ON true
         ORDER BY position`,
        [kinds.map(({ firmUuid }) => firmUuid), kinds.map(({ segmentType }) => segmentType)],
      );
      return rows.map(({ uuid, revision }) => (uuid === null || revision === null ? null : { uuid, revision }));
    },

    /** The newest revisions of scorecards of a firm; those of other firms are left out. */
    async findNewest(
      wanted: readonly { firmUuid: string; uuid: string }[],
    ): Promise<(RevisionId & { firmUuid: string })[]> {
      return db.query(
        `SELECT firm_uuid AS "firmUuid", uuid, revision FROM scorecard
         WHERE (firm_uuid, uuid) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))`,
        [wanted.map(({ firmUuid }) => firmUuid), wanted.map(({ uuid }) => uuid)],
      );
    },

    /** The revisions that exist, in any order. */
    async findRevisions(ids: readonly RevisionId[]): Promise<Scorecard[]> {
      const rows = await db.prepared<RevisionId & { body: ScorecardBody }>(
        'scorecard-revisions',
        `SELECT scorecard_uuid AS uuid, revision, body
         FROM scorecard_revision JOIN unnest($1::uuid[], $2::int[]) AS wanted (scorecard_uuid, revision)
         USING (scorecard_uuid, revision)`,
        [ids.map(({ uuid }) => uuid), ids.map(({ revision }) => revision)],
      );
      return rows.map(({ uuid, revision, body }) => ({ uuid, revision, ...body, sections: completed(body.sections) }));
    },

    /**
     * Adds the default scorecard, in the firm's language, to a firm that does not have it, and makes it active. Fault
     * NOT_FOUND when the firm was removed.
     */
    async ensureDefault(firmUuid: string, language: () => Promise<Language>): Promise<void> {
      if (await isFirmRemoved(db, firmUuid)) throw notFound('firm');
      const found = await db.query('SELECT 1 FROM scorecard WHERE firm_uuid = $1 AND is_default', [firmUuid]);
      if (found.length > 0) return;
      const { name, sections } = defaultScorecardIn(await language());
      // ON CONFLICT names no index, because concurrent inserts may conflict in either of the two unique indexes.
      await db.transaction(async (tx) => {
        if (await isFirmRemoved(tx, firmUuid)) throw notFound('firm');
        await tx.query(
          `WITH added AS (
           INSERT INTO scorecard (uuid, firm_uuid, is_default, is_active, created_at) VALUES ($1, $2, true, true, now())
           ON CONFLICT DO NOTHING RETURNING uuid)
         INSERT INTO scorecard_revision (scorecard_uuid, revision, body, created_at) SELECT uuid, 1, $3, now() FROM added`,
          [uuidv7(), firmUuid, JSON.stringify({ name, sections })],
        );
      });
    },

    /** Adds a scorecard that is not yet active. */
    async add(
      added: { uuid: string; firmUuid: string; segmentType: string | null; createdBy: string },
      body: ScorecardBody,
      sql: Sql = db,
    ): Promise<void> {
      await sql.query(
        `WITH added AS (
           INSERT INTO scorecard (uuid, firm_uuid, is_default, segment_type, created_at)
           VALUES ($1, $2, false, $3, now()) RETURNING uuid)
         INSERT INTO scorecard_revision (scorecard_uuid, revision, body, created_at, created_by)
         SELECT uuid, 1, $4, now(), $5 FROM added`,
        [added.uuid, added.firmUuid, added.segmentType, JSON.stringify(body), added.createdBy],
      );
    },

    /** Finds a scorecard and prevents other revisions of it until `tx` ends. */
    async lock(tx: Sql, firmUuid: string, uuid: string): Promise<StoredScorecard> {
      await tx.query('SELECT FROM scorecard WHERE firm_uuid = $1 AND uuid = $2 FOR UPDATE', [firmUuid, uuid]);
      // A separate statement, because the first one may wait and then sees the revision from before it waited.
      return find(tx, firmUuid, uuid);
    },

    async addRevision(tx: Sql, { uuid, revision }: RevisionId, body: ScorecardBody, createdBy: string): Promise<void> {
      await tx.query(
        `INSERT INTO scorecard_revision (scorecard_uuid, revision, body, created_at, created_by) VALUES ($1, $2, $3, now(), $4)`,
        [uuid, revision, JSON.stringify(body), createdBy],
      );
      await tx.query('UPDATE scorecard SET revision = $2 WHERE uuid = $1', [uuid, revision]);
    },

    /**
     * Makes a scorecard active in place of the active one of its firm and segment type. `record` runs in the same
     * transaction. Fault: NOT_FOUND.
     */
    async activate(
      firmUuid: string,
      uuid: string,
      record: (tx: Sql) => Promise<void> = async () => {},
    ): Promise<StoredScorecard> {
      return db.transaction(async (tx) => {
        const { segment_type: segmentType } = await find(tx, firmUuid, uuid);
        // Serializes activations of the same firm and segment type.
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
        await record(tx);
        return find(tx, firmUuid, uuid);
      });
    },

    /** A scorecard at its newest revision, or at the given one. Fault: NOT_FOUND. */
    find: (firmUuid: string, uuid: string, revision?: number, sql: Sql = db) => find(sql, firmUuid, uuid, revision),

    /** The scorecard that the firm was given, at its newest revision, and whether that is a person's. Fault: NOT_FOUND. */
    async findDefault(firmUuid: string): Promise<StoredScorecard & { readonly is_edited: boolean }> {
      const [row] = await db.query<{ uuid: string; is_edited: boolean }>(
        `SELECT uuid, created_by IS NOT NULL AS is_edited
         FROM scorecard JOIN scorecard_revision AS newest ON scorecard_uuid = uuid AND newest.revision = scorecard.revision
         WHERE firm_uuid = $1 AND is_default`,
        [firmUuid],
      );
      if (row === undefined) throw notFound('scorecard');
      return { ...(await find(db, firmUuid, row.uuid)), is_edited: row.is_edited };
    },

    /** Newest first. */
    async list(firmUuid: string, page: Page): Promise<{ count: number; items: ScorecardRow[] }> {
      const matching = `FROM scorecard JOIN scorecard_revision ON scorecard_uuid = uuid AND scorecard_revision.revision = scorecard.revision
        WHERE firm_uuid = $1`;
      const orderBy = 'scorecard.created_at DESC, uuid DESC';
      return readPage(db, { columns: ROW, matching, values: [firmUuid], orderBy }, page);
    },

    /** Newest first. Fault: NOT_FOUND. */
    async listRevisions(
      firmUuid: string,
      uuid: string,
      { page, size }: Page,
      sql: Sql = db,
    ): Promise<{ count: number; items: RevisionRow[] }> {
      const [scorecard] = await sql.query<{ revision: number }>(
        'SELECT revision FROM scorecard WHERE firm_uuid = $1 AND uuid = $2',
        [firmUuid, uuid],
      );
      if (scorecard === undefined) throw notFound('scorecard');
      const items = await sql.query<RevisionRow>(
        `SELECT revision, body->>'name' AS name, created_at, created_by
         FROM scorecard_revision WHERE scorecard_uuid = $1 AND revision <= $2 ORDER BY revision DESC OFFSET $3 LIMIT $4`,
        [uuid, scorecard.revision, (page - 1) * size, size],
      );
      // Revisions are numbered from 1 without gaps.
      return { count: scorecard.revision, items };
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
  return { ...row, sections: completed(row.sections) };
}

/** Fills in what a question for a language model lacks that was stored before the field existed. */
function completed(sections: ScorecardBody['sections']): ScorecardBody['sections'] {
  return sections.map((section) => ({
    ...section,
    questions: section.questions.map((question) =>
      question.decided.by === 'model' ? { ...question, decided: { ...MODEL_DEFAULTS, ...question.decided } } : question,
    ),
  }));
}

const MODEL_DEFAULTS = { role: 'operator', instructions: null, fallback: null } as const;
