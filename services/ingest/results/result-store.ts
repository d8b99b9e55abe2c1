import type { Analysis, BodyOf, CallEnded } from '@call-analysis/events';
import { confidential, type Sql, columnsOf } from '@call-analysis/postgres';
import type { AnalysisBodies } from '../calls/analysis-body-store.ts';
import { factsIn } from '../calls/analysis-facts.ts';
import { CURRENT_ANALYSIS, type Failure, statusesBefore, UNFINISHED_SQL } from '../calls/call-row.ts';
import {
  COPIED_COLUMNS,
  factsFrom,
  factsParameter,
  labelScorecards,
  ROWS_WRITTEN,
  writeListed,
} from '../listing/listed-call-store.ts';

interface AnalyzedCall {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly at: Date;
  readonly outcome: string;
  readonly language: string | null;
  readonly score: number | null;
  readonly analysisUuid: string;
  /** Null when there was nothing to analyze. */
  readonly analysis: Analysis | null;
  /** A sentence for the history. */
  readonly note?: string | null;
}

/** A call that has just been completed or has just failed. */
export type EndedCall = BodyOf<typeof CallEnded> & { readonly firm_uuid: string; readonly uuid: string };

const ENDED_COLUMNS = `call.firm_uuid, call.uuid, call.status, call.outcome, call.score, call.segment_type,
  call.partner_call_id, call.batch_uuid, call.campaign_uuid, call.failure`;

interface WaitingCall {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly attempt: number;
  readonly reason: string;
  readonly at: Date;
}

export const results = (bodies: AnalysisBodies) => ({
  /**
   * Completes calls with their analyses. A call that has ended, or whose later attempt has started, stays as it is:
   * status only moves forward within an attempt. An analysis is always dated after those of earlier attempts,
   * whatever its publisher's clock says, because the score of a call is that of its newest analysis. Returns the calls
   * that it completed.
   */
  async complete(tx: Sql, analyzed: readonly AnalyzedCall[]): Promise<EndedCall[]> {
    const withAnalysis = analyzed.flatMap(({ analysis, ...call }) =>
      analysis === null ? [] : [{ ...call, analysis }],
    );
    const packed = new Map(
      (await bodies.pack(tx, withAnalysis)).map((body, at) => [withAnalysis[at]!.analysisUuid, body]),
    );
    const facts = analyzed.map((each) => ({ ...each, facts: each.analysis && factsIn(each.analysis) }));
    const { listed, points } = writeListed(
      `completed AS call JOIN ${factsFrom('$14')} ON facts.analysis_uuid = call.analysis_uuid`,
    );
    const rows = await tx.query<EndedCall>(
      `WITH result AS (
         SELECT * FROM unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[], $5::text[], $6::float8[],
           $7::uuid[], $8::bytea[], $9::uuid[], $10::int[], $11::text[],
           $12::int[], $13::int[])
           AS r (call_uuid, attempt, at, outcome, language, score, analysis_uuid, body, firm_uuid, needs_review, note,
             questions, answered), ${ROWS_WRITTEN}),
       completed AS (
         UPDATE call SET status = 'completed', outcome = result.outcome, failure = NULL, score = result.score,
           needs_review = result.needs_review, questions = result.questions, answered = result.answered, reviewed_at = NULL,
           language = coalesce(call.language, result.language), updated_at = greatest(result.at, created_at),
           history = history || jsonb_build_object('status', 'completed', 'at',
             to_char(greatest(result.at, created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
             'detail', result.note)
         FROM result
         WHERE call.firm_uuid = result.firm_uuid AND call.uuid = result.call_uuid AND call.attempt = result.attempt
           AND call.status IN ${UNFINISHED_SQL}
         RETURNING ${COPIED_COLUMNS}, call.partner_call_id, call.failure, call.attempt, result.analysis_uuid, result.body, result.at),
       stored AS (
         INSERT INTO analysis (uuid, call_uuid, firm_uuid, body, created_at)
         SELECT analysis_uuid, uuid, firm_uuid, body, CASE WHEN attempt = 1 THEN at ELSE greatest(at, (
           SELECT max(created_at) + interval '1 millisecond' FROM analysis AS earlier
           WHERE earlier.firm_uuid = completed.firm_uuid AND earlier.call_uuid = completed.uuid)) END
         FROM completed WHERE body IS NOT NULL
         ON CONFLICT (uuid) DO NOTHING),
       listed AS (${listed}),
       points AS (${points})
       SELECT ${ENDED_COLUMNS} FROM completed AS call`,
      [
        ...columnsOf(analyzed, 'callUuid', 'attempt', 'at', 'outcome', 'language', 'score', 'analysisUuid'),
        analyzed.map(({ analysisUuid }) => confidential(packed.get(analysisUuid) ?? null)),
        analyzed.map((each) => each.firmUuid),
        facts.map((each) => each.facts?.needsReview ?? null),
        analyzed.map(({ note }) => note ?? null),
        facts.map((each) => each.facts?.counts.questions ?? null),
        facts.map((each) => each.facts?.counts.answered ?? null),
        factsParameter(facts),
      ],
    );
    await labelScorecards(tx, facts);
    return rows;
  },

  /** Calls that are not past the stage are in it from now on, with the reason in their history. */
  async wait(tx: Sql, stage: 'transcription' | 'analysis', waiting: readonly WaitingCall[]): Promise<void> {
    if (waiting.length === 0) return;
    await tx.query(
      `UPDATE call SET status = $6, updated_at = greatest(waits.at, updated_at),
         history = history || jsonb_build_object('status', $6::text, 'at',
           to_char(greatest(waits.at, created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'detail', waits.reason)
       FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::timestamptz[])
         AS waits (firm_uuid, call_uuid, attempt, reason, at)
       WHERE call.firm_uuid = waits.firm_uuid AND call.uuid = waits.call_uuid AND call.attempt = waits.attempt
         AND call.status = ANY($7::text[])`,
      [
        ...columnsOf(waiting, 'firmUuid', 'callUuid', 'attempt', 'reason', 'at'),
        stage === 'transcription' ? 'transcribing' : 'analyzing',
        statusesBefore(stage),
      ],
    );
  },

  /**
   * Does nothing when the call has ended, is past the stage, or is in another attempt. A call that was only to be analyzed
   * anew keeps its current analysis and is completed. Returns the call.
   */
  async fail(
    tx: Sql,
    { firmUuid, callUuid, attempt }: { firmUuid: string; callUuid: string; attempt: number },
    failure: Failure,
    now: Date,
  ): Promise<EndedCall[]> {
    if (failure.stage === 'analysis') {
      const kept = await keepAnalysis(tx, { firmUuid, callUuid, attempt }, failure, now);
      if (kept.length > 0) return kept;
    }
    const which = 'firm_uuid = $5 AND uuid = $6 AND attempt = $7 AND status = ANY($8)';
    return failWhere(tx, failure, now, which, [firmUuid, callUuid, attempt, statusesBefore(failure.stage)]);
  },
});

async function keepAnalysis(
  tx: Sql,
  { firmUuid, callUuid, attempt }: { firmUuid: string; callUuid: string; attempt: number },
  { stage, code }: Failure,
  now: Date,
): Promise<EndedCall[]> {
  return tx.query<EndedCall>(
    `UPDATE call SET status = 'completed', outcome = 'scored', updated_at = greatest($4, created_at),
       history = history || jsonb_build_object('status', 'completed', 'at', $5::text, 'detail', $6::text)
     WHERE firm_uuid = $1 AND uuid = $2 AND attempt = $3 AND status = ANY($7)
       AND ${CURRENT_ANALYSIS} IS NOT NULL
     RETURNING ${ENDED_COLUMNS}`,
    [
      firmUuid,
      callUuid,
      attempt,
      now,
      now.toISOString(),
      `the new analysis failed (${code}); the earlier one stays`,
      statusesBefore(stage),
    ],
  );
}

/** Fails the calls that `which` selects, a condition whose parameters begin with $5, and returns them. */
export async function failWhere(
  sql: Sql,
  failure: Failure,
  now: Date,
  which: string,
  values: readonly unknown[],
): Promise<EndedCall[]> {
  return sql.query<EndedCall>(
    `UPDATE call SET status = 'failed', failure = $1, updated_at = greatest($2, created_at),
       history = history || jsonb_build_object('status', 'failed', 'at', $3::text, 'detail', $4::text)
     WHERE ${which} RETURNING ${ENDED_COLUMNS}`,
    [JSON.stringify(failure), now, now.toISOString(), `${failure.stage}: ${failure.code}`, ...values],
  );
}

export type Results = ReturnType<typeof results>;
