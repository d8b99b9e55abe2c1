import { deflateRawSync } from 'node:zlib';
import type { Dated } from '@call-analysis/api/fields';
import type { AgreementQuery, ComparedCallPage, ComparedQuery } from '@call-analysis/api/people';
import type { ReviewedAnalysis } from '@call-analysis/events';
import { notFound } from '@call-analysis/fault';
import { confidential, type Database, readPage, type Sql, columnsOf } from '@call-analysis/postgres';
import type { z } from 'zod';
import type { AnalysisBodies } from '../calls/analysis-body-store.ts';
import type { AnalysisFacts } from '../calls/analysis-facts.ts';
import { CURRENT_ANALYSIS, UNFINISHED_SQL } from '../calls/call-row.ts';
import { listFacts } from '../listing/listed-call-store.ts';
import type { ComparedAnswer } from './compare-answers.ts';
import { type ReviewContent, ReviewLog, type ReviewState } from './review-log.ts';
import type { PersonAnswer } from './scorecards.ts';

interface CallId {
  readonly firmUuid: string;
  readonly callUuid: string;
}

export interface AgreementFilter extends Readonly<z.output<typeof AgreementQuery>> {
  readonly scorecardUuid: string;
}

interface ComparedCount {
  readonly question: string;
  readonly text: string;
  readonly machine: string | null;
  readonly person: string | null;
  readonly count: number;
}

/** Of one question. An empty label is "not applicable", without one it is any. */
interface ComparedFilter extends Readonly<z.output<typeof ComparedQuery>> {
  readonly scorecardUuid: string;
}

type ComparedCall = Dated<z.output<typeof ComparedCallPage>['items'][number], 'start_time'>;

/** Reviews of analyses. Every statement is limited to one firm. */
export function reviews(db: Database, bodies: AnalysisBodies) {
  return {
    /** The uuid of the call's current analysis; null without one. */
    async currentUuid(sql: Sql, firmUuid: string, callUuid: string): Promise<string | null> {
      const [row] = await sql.query<{ uuid: string | null }>(
        `SELECT ${CURRENT_ANALYSIS} AS uuid FROM call WHERE firm_uuid = $1 AND uuid = $2`,
        [firmUuid, callUuid],
      );
      return row?.uuid ?? null;
    },

    /** An analysis without its review. */
    async machineAnalysis(sql: Sql, firmUuid: string, callUuid: string, uuid: string): Promise<ReviewedAnalysis> {
      const rows = await sql.query<{ uuid: string; body: Buffer }>(
        'SELECT uuid, body FROM analysis WHERE firm_uuid = $1 AND call_uuid = $2 AND uuid = $3',
        [firmUuid, callUuid, uuid],
      );
      const [analysis] = await bodies.read(sql, rows);
      if (analysis === undefined) throw notFound('analysis');
      return analysis;
    },

    /** Analyses without their reviews, in any order. Those that are gone are absent. */
    async machineAnalyses(
      sql: Sql,
      firmUuid: string,
      which: readonly { readonly call_uuid: string; readonly analysis_uuid: string }[],
    ): Promise<ReviewedAnalysis[]> {
      const rows = await sql.query<{ uuid: string; body: Buffer }>(
        `SELECT uuid, body FROM analysis
         WHERE firm_uuid = $1 AND (call_uuid, uuid) IN (SELECT * FROM unnest($2::uuid[], $3::uuid[]))`,
        [firmUuid, ...columnsOf(which, 'call_uuid', 'analysis_uuid')],
      );
      return bodies.read(sql, rows);
    },

    /** What stands of an analysis' review, and its changes. */
    async state(sql: Sql, { firmUuid, callUuid }: CallId, analysisUuid: string): Promise<ReviewState> {
      const [row] = await sql.query<ReviewStateRow>(
        `SELECT review_log AS log, by_uuid AS "byUuid", at, comment, done, answers
         FROM analysis LEFT JOIN review ON review.firm_uuid = analysis.firm_uuid AND review.call_uuid = analysis.call_uuid
           AND review.analysis_uuid = analysis.uuid
         WHERE analysis.firm_uuid = $1 AND analysis.call_uuid = $2 AND analysis.uuid = $3`,
        [firmUuid, callUuid, analysisUuid],
      );
      return row === undefined ? { review: null, log: null } : stateOf(row);
    },

    /** The analysis with the review that stands. */
    async reviewed(sql: Sql, { firmUuid, callUuid }: CallId, uuid: string): Promise<ReviewedAnalysis> {
      const rows = await sql.query<{ uuid: string; body: Buffer }>(
        'SELECT analysis_uuid AS uuid, body FROM review WHERE firm_uuid = $1 AND call_uuid = $2 AND analysis_uuid = $3',
        [firmUuid, callUuid, uuid],
      );
      const [analysis] = await bodies.read(sql, rows);
      if (analysis === undefined) throw notFound('review');
      return analysis;
    },

    async saveLog(tx: Sql, { firmUuid, callUuid }: CallId, analysisUuid: string, log: ReviewLog): Promise<void> {
      await tx.query('UPDATE analysis SET review_log = $4 WHERE firm_uuid = $1 AND call_uuid = $2 AND uuid = $3', [
        firmUuid,
        callUuid,
        analysisUuid,
        JSON.stringify(log),
      ]);
    },

    /** Stores the review of a reviewed analysis, instead of an earlier one. */
    async save(
      tx: Sql,
      { firmUuid, callUuid }: CallId,
      { uuid, ...body }: ReviewedAnalysis,
      answers: readonly PersonAnswer[],
    ): Promise<void> {
      await tx.query(
        `INSERT INTO review (firm_uuid, call_uuid, analysis_uuid, by_uuid, at, comment, done, answers, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (firm_uuid, call_uuid, analysis_uuid) DO UPDATE SET by_uuid = excluded.by_uuid, at = excluded.at,
           comment = excluded.comment, done = excluded.done, answers = excluded.answers, body = excluded.body`,
        [
          firmUuid,
          callUuid,
          uuid,
          body.review!.by,
          body.review!.at,
          confidential(body.review!.comment),
          body.review!.done,
          JSON.stringify(answers),
          confidential(deflateRawSync(JSON.stringify(body))),
        ],
      );
    },

    /** Stores the compared answers of a review, instead of earlier ones. */
    async saveCompared(
      tx: Sql,
      { firmUuid, callUuid }: CallId,
      { uuid, scorecard }: ReviewedAnalysis,
      compared: readonly ComparedAnswer[],
    ): Promise<void> {
      await removeCompared(tx, { firmUuid, callUuid }, uuid);
      await tx.query(
        `INSERT INTO compared_answer (firm_uuid, call_uuid, analysis_uuid, scorecard_uuid, revision, question_uuid, text, machine, person)
         SELECT $1, $2, $3, $4, $5, * FROM unnest($6::uuid[], $7::text[], $8::text[], $9::text[])`,
        [
          firmUuid,
          callUuid,
          uuid,
          scorecard.uuid,
          scorecard.revision,
          ...columnsOf(compared, 'uuid', 'text', 'machine', 'person'),
        ],
      );
    },

    async remove(tx: Sql, call: CallId, analysisUuid: string): Promise<void> {
      const which = [call.firmUuid, call.callUuid, analysisUuid];
      await tx.query('DELETE FROM review WHERE firm_uuid = $1 AND call_uuid = $2 AND analysis_uuid = $3', which);
      await removeCompared(tx, call, analysisUuid);
    },

    /** Writes what a review changes of the call itself, or that the call has no current analysis: all null. */
    async applyToCall(
      tx: Sql,
      { firmUuid, callUuid }: CallId,
      score: number | null,
      facts: AnalysisFacts | null,
      reviewedAt: Date | null,
    ): Promise<void> {
      await tx.query(
        `UPDATE call SET score = $3, needs_review = $4, questions = $5, answered = $6, reviewed_at = $7,
           updated_at = greatest(updated_at, now()),
           ended_at = CASE WHEN status IN ${UNFINISHED_SQL} THEN NULL ELSE coalesce(ended_at, updated_at) END
         WHERE firm_uuid = $1 AND uuid = $2`,
        [
          firmUuid,
          callUuid,
          score,
          facts?.needsReview ?? null,
          facts?.counts.questions ?? null,
          facts?.counts.answered ?? null,
          reviewedAt,
        ],
      );
      await listFacts(tx, [{ firmUuid, callUuid, facts }]);
    },

    /** How many calls have a review, and how often machine and person gave which answer to each question. */
    async compare(firmUuid: string, filter: AgreementFilter): Promise<{ calls: number; counts: ComparedCount[] }> {
      const { from, values } = comparedBy(firmUuid, filter);
      const [counts, [calls]] = await Promise.all([
        db.query<ComparedCount>(
          `SELECT question_uuid AS question, (array_agg(text ORDER BY revision DESC))[1] AS text, machine, person, count(*)::int AS count
           FROM ${from} GROUP BY question_uuid, machine, person ORDER BY question_uuid, count DESC, machine, person`,
          values,
        ),
        db.query<{ calls: number }>(`SELECT count(DISTINCT call_uuid)::int AS calls FROM ${from}`, values),
      ]);
      return { calls: calls?.calls ?? 0, counts };
    },

    /** The calls with a compared answer to a question, those that started last first. */
    async comparedCalls(
      firmUuid: string,
      { question, machine, person, page, size, ...filter }: ComparedFilter,
    ): Promise<{ count: number; items: ComparedCall[] }> {
      const { from, values } = comparedBy(firmUuid, filter);
      const listed = {
        columns: 'call.uuid AS call_uuid, operator_name, start_time, score::float8 AS score, a.machine, a.person',
        matching: `FROM ${from} AND a.question_uuid = $8
        AND ($9::text IS NULL OR coalesce(a.machine, '') = $9) AND ($10::text IS NULL OR coalesce(a.person, '') = $10)`,
        values: [...values, question, machine, person],
        orderBy: 'start_time DESC, call.uuid DESC, a.analysis_uuid DESC',
      };
      return readPage<ComparedCall>(db, listed, { page, size });
    },
  };
}

/** Whoever has the locked call is done with it. */
export async function endLease(tx: Sql, { firmUuid, callUuid }: CallId): Promise<void> {
  await tx.query('DELETE FROM review_lease WHERE firm_uuid = $1 AND call_uuid = $2', [firmUuid, callUuid]);
}

/** Notes that the review of a locked call is finished, so that the call is out of the queue, or that it is not any more. */
export async function noteReview(tx: Sql, { firmUuid, callUuid }: CallId, isDone: boolean): Promise<void> {
  if (isDone) await endLease(tx, { firmUuid, callUuid });
  await tx.query(
    'UPDATE sampled_call SET is_done = $3 WHERE firm_uuid = $1 AND call_uuid = $2 AND is_done IS DISTINCT FROM $3',
    [firmUuid, callUuid, isDone],
  );
}

/** The compared answers that an agreement is measured from. */
function comparedBy(firmUuid: string, filter: AgreementFilter): { from: string; values: unknown[] } {
  const { scorecardUuid, revision, from, to, language, segment_type } = filter;
  return {
    from: `compared_answer AS a JOIN call ON call.firm_uuid = a.firm_uuid AND call.uuid = a.call_uuid
      WHERE a.firm_uuid = $1 AND a.scorecard_uuid = $2 AND ($3::int IS NULL OR a.revision = $3)
        AND ($4::timestamptz IS NULL OR call.start_time >= $4) AND ($5::timestamptz IS NULL OR call.start_time < $5)
        AND ($6::text IS NULL OR call.language = $6) AND ($7::text IS NULL OR call.segment_type = $7)`,
    values: [firmUuid, scorecardUuid, revision, from, to, language, segment_type],
  };
}

async function removeCompared(tx: Sql, { firmUuid, callUuid }: CallId, analysisUuid: string): Promise<void> {
  await tx.query('DELETE FROM compared_answer WHERE firm_uuid = $1 AND call_uuid = $2 AND analysis_uuid = $3', [
    firmUuid,
    callUuid,
    analysisUuid,
  ]);
}

interface ReviewStateRow {
  readonly log: unknown;
  readonly byUuid: string | null;
  readonly at: Date | null;
  readonly comment: string | null;
  readonly done: boolean | null;
  readonly answers: readonly PersonAnswer[] | null;
}

/** A review from before its changes were stored is one change, by the person who wrote it. */
function stateOf({ log, byUuid, at, comment, done, answers }: ReviewStateRow): ReviewState {
  const changes = log === null ? null : ReviewLog.parse(log);
  if (byUuid === null || at === null) return { review: null, log: changes };
  const review: ReviewContent = {
    answers: answers ?? [],
    comment,
    done: done ?? false,
  };
  const first = { revision: 1, by: byUuid, at: at.toISOString() };
  const unlogged = {
    ...first,
    answers: review.answers.map((each) => ({ ...first, question_uuid: each.question_uuid })),
  };
  return { review, log: changes ?? unlogged };
}

export type Reviews = ReturnType<typeof reviews>;
