import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Utterance } from '@call-analysis/events';
import type { Database, Sql } from '@call-analysis/postgres';
import { UNFINISHED_SQL } from '../calls/call-status.ts';

/** What became known when a recording had been heard. */
export interface HeardCall {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly at: Date;
  readonly engine: string | null;
  readonly language: string | null;
  readonly utterances: readonly Utterance[];
  /** What the history should say of it, one entry each. */
  readonly details: readonly string[];
}

/** How far a recording has been heard. */
export interface Progress {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly at: Date;
  /** Grows as more is heard; of each step and attempt one entry stands in the history. */
  readonly step: number;
  readonly detail: string;
}

const fast = { level: 1 };

/** What was said in recordings. Every question is asked in the name of one firm. */
export function transcripts(db: Database) {
  return {
    /** Null when it has not been heard. */
    async of(sql: Sql, firmUuid: string, callUuid: string): Promise<Utterance[] | null> {
      const [row] = await sql.query<{ body: Buffer }>(
        'SELECT body FROM transcript WHERE firm_uuid = $1 AND call_uuid = $2',
        [firmUuid, callUuid],
      );
      return row === undefined ? null : utterancesIn(row.body);
    },

    async find(firmUuid: string, callUuid: string): Promise<Utterance[] | null> {
      return this.of(db, firmUuid, callUuid);
    },

    /**
     * Keeps what was heard in the attempt that a call is in, also when the call has ended meanwhile; a call that has
     * not is being analysed from here on.
     */
    async keep(
      tx: Sql,
      { firmUuid, callUuid, attempt, at, engine, language, utterances, details }: HeardCall,
    ): Promise<void> {
      const entries = details.map((detail) => ({ status: 'analyzing', at: at.toISOString(), detail }));
      await tx.query(
        `WITH heard AS (
           UPDATE call SET status = CASE WHEN status IN ${UNFINISHED_SQL} THEN 'analyzing' ELSE status END,
             engine = $4, language = coalesce($5, language), updated_at = greatest(updated_at, $6), history = history || $7
           WHERE firm_uuid = $1 AND uuid = $2 AND attempt = $3 AND source = 'audio'
           RETURNING firm_uuid, uuid)
         INSERT INTO transcript (firm_uuid, call_uuid, body) SELECT firm_uuid, uuid, $8 FROM heard
         ON CONFLICT (firm_uuid, call_uuid) DO UPDATE SET body = excluded.body`,
        [
          firmUuid,
          callUuid,
          attempt,
          engine,
          language,
          at,
          JSON.stringify(entries),
          deflateRawSync(JSON.stringify(utterances), fast),
        ],
      );
    },

    /** Says in the history how far a call has been heard. What comes late, or comes again, changes nothing. */
    async progress(tx: Sql, { firmUuid, callUuid, attempt, at, step, detail }: Progress): Promise<void> {
      const entry = { status: 'transcribing', at: at.toISOString(), detail, attempt, step };
      await tx.query(
        `UPDATE call SET status = 'transcribing', updated_at = greatest(updated_at, $4), history = history || $5
         WHERE firm_uuid = $1 AND uuid = $2 AND attempt = $3 AND source = 'audio' AND status IN ('queued', 'transcribing')
           AND NOT EXISTS (
             SELECT FROM jsonb_array_elements(history) AS told
             WHERE (told->>'attempt')::int = $3 AND (told->>'step')::int >= $6)`,
        [firmUuid, callUuid, attempt, at, JSON.stringify([entry]), step],
      );
    },
  };
}

/** Of a transcript as it is stored. */
export function utterancesIn(body: Buffer): Utterance[] {
  return JSON.parse(inflateRawSync(body).toString()) as Utterance[];
}

export type Transcripts = ReturnType<typeof transcripts>;
