import type { Analysis } from '@call-analysis/events';
import { confidential, type Database, type Sql } from '@call-analysis/postgres';
import type { AnalysisBodies } from '../calls/analysis-body-store.ts';
import { UNFINISHED_SQL } from '../calls/call-row.ts';

/** Calls of a firm between two uuids, both exclusive, the oldest first. */
export interface OldCalls {
  readonly firmUuid: string;
  readonly after: string;
  readonly before: string;
  readonly limit: number;
}

/** A day of a firm in its time zone, and the moment at which it began. */
export interface LocalDay {
  readonly day: string;
  readonly beganAt: Date;
}

/** What is kept for a number of days. */
export type OldData = 'calls' | 'recordings' | 'transcripts';

const ENDED = `call.status NOT IN ${UNFINISHED_SQL}`;

/** Calls of a firm that have such data. */
const WITH: Record<OldData, string> = {
  calls: `call WHERE firm_uuid = $1 AND ${ENDED}`,
  recordings: `recording JOIN call ON call.firm_uuid = $1 AND call.uuid = call_uuid
    WHERE recording.firm_uuid = $1 AND object_key IS NOT NULL AND ${ENDED}`,
  transcripts: `call WHERE firm_uuid = $1 AND ${ENDED} AND (tagged_text IS NOT NULL
    OR EXISTS (SELECT FROM transcript WHERE transcript.firm_uuid = $1 AND call_uuid = call.uuid))`,
};

/**
 * Data that is kept for a number of days. Every statement is limited to one firm, and leaves out calls that are being
 * processed.
 */
export function retained(db: Database, bodies: AnalysisBodies) {
  return {
    /** The firm's day that began this many days before the present one. */
    async dayBefore(now: Date, days: number, timeZone: string): Promise<LocalDay> {
      const [row] = await db.query<LocalDay>(
        `SELECT to_char(local.day, 'YYYY-MM-DD') AS day, local.day AT TIME ZONE $2 AS "beganAt"
         FROM (SELECT date_trunc('day', $1::timestamptz AT TIME ZONE $2) - make_interval(days => $3) AS day) AS local`,
        [now, timeZone, days],
      );
      return row!;
    },

    /** Calls that have such data and are not being processed. */
    async find(what: OldData, { firmUuid, after, before, limit }: OldCalls): Promise<string[]> {
      const rows = await db.query<{ uuid: string }>(
        `SELECT uuid FROM ${WITH[what]} AND uuid > $2 AND uuid < $3 ORDER BY uuid LIMIT $4`,
        [firmUuid, after, before, limit],
      );
      return rows.map(({ uuid }) => uuid);
    },

    /** Takes the recordings from those of the calls that still have one, and returns them. Their objects are left. */
    async takeRecordings(tx: Sql, firmUuid: string, among: readonly string[], at: Date): Promise<string[]> {
      const uuids = await lock(tx, 'recordings', firmUuid, among);
      await tx.query(
        `UPDATE recording SET object_key = NULL, size_bytes = NULL, stored_at = NULL
         WHERE firm_uuid = $1 AND call_uuid = ANY($2::uuid[])`,
        [firmUuid, uuids],
      );
      await noteRemoval(tx, firmUuid, uuids, 'recording', at);
      return uuids;
    },

    /**
     * Removes the transcripts of those of the calls that still have one, and what analyses and reviews quote of them, and
     * returns them. The index of words follows.
     */
    async takeTranscripts(tx: Sql, firmUuid: string, among: readonly string[], at: Date): Promise<string[]> {
      const uuids = await lock(tx, 'transcripts', firmUuid, among);
      if (uuids.length === 0) return [];
      await tx.query('DELETE FROM transcript WHERE firm_uuid = $1 AND call_uuid = ANY($2::uuid[])', [firmUuid, uuids]);
      await tx.query('UPDATE call SET tagged_text = NULL WHERE firm_uuid = $1 AND uuid = ANY($2::uuid[])', [
        firmUuid,
        uuids,
      ]);
      await removeQuotes(tx, bodies, 'analysis', 'uuid', firmUuid, uuids);
      await removeQuotes(tx, bodies, 'review', 'analysis_uuid', firmUuid, uuids);
      await noteRemoval(tx, firmUuid, uuids, 'transcript', at);
      await tx.query('INSERT INTO queued_words (firm_uuid, uuid, has_new_words) SELECT $1, unnest($2::uuid[]), true', [
        firmUuid,
        uuids,
      ]);
      return uuids;
    },
  };
}

/** Those of the calls that have such data, locked in the order in which every transaction locks calls. */
async function lock(tx: Sql, what: OldData, firmUuid: string, among: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ uuid: string }>(
    `SELECT uuid FROM ${WITH[what]} AND uuid = ANY($2::uuid[]) ORDER BY uuid FOR UPDATE`,
    [firmUuid, among],
  );
  return rows.map(({ uuid }) => uuid);
}

/** A failed call cannot be retried without what was removed. */
async function noteRemoval(
  tx: Sql,
  firmUuid: string,
  uuids: readonly string[],
  removed: 'recording' | 'transcript',
  at: Date,
): Promise<void> {
  await tx.query(
    `UPDATE call SET history = history || jsonb_build_object('status', status, 'at', $3::text, 'detail', $4::text,
         'removed', $5::text),
       failure = CASE WHEN failure IS NULL THEN NULL ELSE jsonb_set(failure, '{retryable}', 'false') END
     WHERE firm_uuid = $1 AND uuid = ANY($2::uuid[])`,
    [firmUuid, uuids, at.toISOString(), `The ${removed} was removed by the retention of the firm.`, removed],
  );
}

async function removeQuotes(
  tx: Sql,
  bodies: AnalysisBodies,
  table: 'analysis' | 'review',
  key: string,
  firmUuid: string,
  callUuids: readonly string[],
): Promise<void> {
  const rows = await tx.query<{ uuid: string; body: Buffer }>(
    `SELECT ${key} AS uuid, body FROM ${table} WHERE firm_uuid = $1 AND call_uuid = ANY($2::uuid[])`,
    [firmUuid, callUuids],
  );
  const analyses = await bodies.unpack(
    tx,
    rows.map(({ body }) => body),
  );
  const changed = rows.map(({ body }, at) => confidential(bodies.repack(body, withoutQuotes(analyses[at]!))));
  await tx.query(
    `UPDATE ${table} SET body = changed.body FROM unnest($2::uuid[], $3::bytea[]) AS changed (uuid, body)
     WHERE firm_uuid = $1 AND ${table}.${key} = changed.uuid`,
    [firmUuid, rows.map(({ uuid }) => uuid), changed],
  );
}

/** Without what was said, in the machine's analysis and in a review of it. */
function withoutQuotes(analysis: object): object {
  const { analyst, summary } = analysis as Partial<Pick<Analysis, 'analyst' | 'summary'>>;
  const cleared = JSON.parse(JSON.stringify(analysis), (name, value: unknown) => {
    if (name === 'manipulation') return null;
    return name === 'evidence' && Array.isArray(value) ? [] : value;
  }) as object;
  return isOfQuotes(analyst?.name, summary) ? { ...cleared, summary: '' } : cleared;
}

/** Rules make a summary of quotes: `Client: …`, one a line. So has a language model's analysis where that wrote none. */
function isOfQuotes(analyst: string | undefined, summary = ''): boolean {
  return analyst !== 'model' || /^\S+: |\n/u.test(summary);
}

export type Retained = ReturnType<typeof retained>;
