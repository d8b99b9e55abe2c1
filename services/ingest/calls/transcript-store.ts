import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Utterance } from '@call-analysis/events';
import { confidential, type Database, type Sql } from '@call-analysis/postgres';
import { UNFINISHED_SQL } from './call-row.ts';
import { parseTranscript } from './transcript-format.ts';

export interface TranscribedCall {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly at: Date;
  readonly engine: string | null;
  readonly language: string | null;
  readonly utterances: readonly Utterance[];
  /** Details for the history, one entry each. */
  readonly details: readonly string[];
}

interface TranscriptionProgress {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly at: Date;
  /** Grows with the progress. The history has one entry for each attempt and step. */
  readonly step: number;
  readonly detail: string;
}

const fast = { level: 1 };

/** Transcripts. Every statement is limited to one firm. */
export function transcripts(db: Database) {
  return {
    /** Of a recording. Null while it has not been transcribed. */
    async read(sql: Sql, firmUuid: string, callUuid: string): Promise<Utterance[] | null> {
      const [row] = await sql.query<{ body: Buffer }>(
        'SELECT body FROM transcript WHERE firm_uuid = $1 AND call_uuid = $2',
        [firmUuid, callUuid],
      );
      return row === undefined ? null : unpacked(row.body);
    },

    /** Of a recording or an upload. Null without one. */
    async find(firmUuid: string, callUuid: string): Promise<Utterance[] | null> {
      return (await this.ofCalls(firmUuid, [callUuid])).get(callUuid) ?? null;
    },

    /** The same of several calls. Those without a transcript are absent. */
    async ofCalls(firmUuid: string, callUuids: readonly string[]): Promise<Map<string, Utterance[]>> {
      const rows = await db.query<StoredTranscript & { uuid: string }>(
        `SELECT call.uuid, tagged_text, body FROM call
           LEFT JOIN transcript ON transcript.firm_uuid = call.firm_uuid AND transcript.call_uuid = call.uuid
         WHERE call.firm_uuid = $1 AND call.uuid = ANY($2)`,
        [firmUuid, callUuids],
      );
      return new Map(
        rows.flatMap((row): [string, Utterance[]][] => {
          const utterances = utterancesOf(row);
          return utterances === null ? [] : [[row.uuid, utterances]];
        }),
      );
    },

    /**
     * Stores the transcript of the call's current attempt, even when the call has ended in the meantime. A call that
     * has not ended becomes `analyzing`.
     */
    async save(
      tx: Sql,
      { firmUuid, callUuid, attempt, at, engine, language, utterances, details }: TranscribedCall,
    ): Promise<void> {
      const entries = details.map((detail) => ({ status: 'analyzing', at: at.toISOString(), detail }));
      await tx.query(
        `WITH transcribed AS (
           UPDATE call SET status = CASE WHEN status IN ${UNFINISHED_SQL} THEN 'analyzing' ELSE status END,
             engine = $4, language = coalesce($5, language), updated_at = greatest(updated_at, $6), history = history || $7
           WHERE firm_uuid = $1 AND uuid = $2 AND attempt = $3 AND source = 'audio'
           RETURNING firm_uuid, uuid)
         INSERT INTO transcript (firm_uuid, call_uuid, body) SELECT firm_uuid, uuid, $8 FROM transcribed
         ON CONFLICT (firm_uuid, call_uuid) DO UPDATE SET body = excluded.body`,
        [
          firmUuid,
          callUuid,
          attempt,
          engine,
          language,
          at,
          JSON.stringify(entries),
          confidential(deflateRawSync(JSON.stringify(utterances), fast)),
        ],
      );
    },

    /** Operator and client change places. Does nothing without a transcript. */
    async swapRoles(tx: Sql, firmUuid: string, callUuid: string): Promise<void> {
      const utterances = await this.read(tx, firmUuid, callUuid);
      if (utterances === null) return;
      const swapped = utterances.map((each) => ({ ...each, role: each.role === 'operator' ? 'client' : 'operator' }));
      await tx.query('UPDATE transcript SET body = $3 WHERE firm_uuid = $1 AND call_uuid = $2', [
        firmUuid,
        callUuid,
        confidential(deflateRawSync(JSON.stringify(swapped), fast)),
      ]);
    },

    /** Adds a step to the history. A late or repeated step changes nothing. */
    async addProgress(
      tx: Sql,
      { firmUuid, callUuid, attempt, at, step, detail }: TranscriptionProgress,
    ): Promise<void> {
      const entry = { status: 'transcribing', at: at.toISOString(), detail, attempt, step };
      await tx.query(
        `UPDATE call SET status = 'transcribing', updated_at = greatest(updated_at, $4), history = history || $5
         WHERE firm_uuid = $1 AND uuid = $2 AND attempt = $3 AND source = 'audio' AND status IN ('queued', 'transcribing')
           AND NOT EXISTS (
             SELECT FROM jsonb_array_elements(history) AS earlier
             WHERE (earlier->>'attempt')::int = $3 AND (earlier->>'step')::int >= $6)`,
        [firmUuid, callUuid, attempt, at, JSON.stringify([entry]), step],
      );
    },
  };
}

/** As a call has it: of its recording, packed, or as it was uploaded. */
export interface StoredTranscript {
  readonly tagged_text: string | null;
  readonly body: Buffer | null;
}

/** Null without a transcript. */
export function utterancesOf({ tagged_text: uploaded, body }: StoredTranscript): Utterance[] | null {
  if (body !== null) return unpacked(body);
  return uploaded === null ? null : (parseTranscript(uploaded)?.utterances ?? []);
}

function unpacked(body: Buffer): Utterance[] {
  return JSON.parse(inflateRawSync(body).toString()) as Utterance[];
}

export type Transcripts = ReturnType<typeof transcripts>;
