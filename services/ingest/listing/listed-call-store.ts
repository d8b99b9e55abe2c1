import type { Sql } from '@call-analysis/postgres';
import type { AnalysisFacts } from '../calls/analysis-facts.ts';

/** The facts of a call's current analysis; null without one. */
export interface CallFacts {
  readonly firmUuid: string;
  readonly callUuid: string;
  readonly facts: AnalysisFacts | null;
  /** Where results of several attempts of a call may be written at once. */
  readonly analysisUuid?: string;
}

/** The columns of `listed_call` that copy the call, each with its expression over `call`. Triggers of `call` write them too. */
const COPIES = {
  firm_uuid: 'call.firm_uuid',
  uuid: 'call.uuid',
  start_time: 'call.start_time',
  batch_uuid: 'call.batch_uuid',
  campaign_uuid: 'call.campaign_uuid',
  duration: 'listed_duration(call.duration)',
  score: 'listed_score(call.score)',
  is_reviewed: 'call.reviewed_at IS NOT NULL',
  source: 'call.source',
  status: 'call.status',
  outcome: 'call.outcome',
  direction: 'call.direction',
  segment_type: 'call.segment_type',
  operator_name: 'call.operator_name',
  operator_id: 'call.operator_id',
  operator_group_name: 'call.operator_group_name',
  client_phone: 'phone_digits(call.client_phone_number)',
  language: 'call.language',
};

/** The columns of `call` that the copies are made of. */
export const COPIED_COLUMNS = `call.firm_uuid, call.uuid, call.start_time, call.batch_uuid, call.campaign_uuid, call.duration, call.score,
  call.reviewed_at, call.source, call.status, call.outcome, call.direction, call.segment_type, call.operator_name,
  call.operator_id, call.operator_group_name, call.client_phone_number, call.language`;

/** The columns that copy facts of the analysis. Amounts are whole numbers, so that sums do not depend on their order. */
const FACTS = {
  needs_review: 'smallint',
  auto_failed: 'boolean',
  auto_fail_suspected: 'boolean',
  scorecard_uuid: 'uuid',
  scorecard_revision: 'int',
  topics: 'text[]',
  resolution: 'text',
  lost_points: 'uuid[]',
  operator_talk: 'int',
  silence: 'int',
  interruptions: 'int',
  client_sentiment: 'smallint',
};

const LISTED = [...Object.keys(COPIES), ...Object.keys(FACTS)];
const UPDATED = LISTED.filter((name) => name !== 'firm_uuid' && name !== 'uuid');
const LISTED_VALUES = [...Object.values(COPIES), ...Object.keys(FACTS).map((name) => `facts.${name}`)];

/** In the FROM clause of a statement that changes calls and writes their whole rows: the trigger of `call` leaves the rows to it. */
export const ROWS_WRITTEN = `set_config('call_analysis.rows_written', 'yes', true)`;

/** The facts that `factsParameter` passes, as `facts` with the uuids of firm, call and analysis. */
export function factsFrom(parameter: string): string {
  const columns = Object.entries(FACTS).map(([name, type]) => `${name} ${type}`);
  return `jsonb_to_recordset(${parameter}::jsonb) AS facts (firm_uuid uuid, call_uuid uuid, analysis_uuid uuid, ${columns.join(', ')},
    questions uuid[], points int[], max_points int[])`;
}

export function factsParameter(calls: readonly CallFacts[]): string {
  const distinct = new Map(calls.map((call) => [call.analysisUuid ?? call.callUuid, call]));
  return JSON.stringify([...distinct.values()].map(rowOf));
}

/**
 * The statement parts that write whole rows of lists, of `call` and `facts` in this FROM clause, in the transaction that changes
 * either. `isNew`: only of calls without a row.
 */
export function writeListed(from: string, { isNew = false } = {}): { listed: string; points: string } {
  const conflict = (columns: readonly string[]) =>
    isNew
      ? 'DO NOTHING'
      : `(firm_uuid, uuid) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;
  const points = ['questions', 'points', 'max_points'];
  return {
    listed: `INSERT INTO listed_call (${LISTED.join(', ')}) SELECT ${LISTED_VALUES.join(', ')} FROM ${from}
      ON CONFLICT ${conflict(UPDATED)}`,
    // Without points there is a row only where the call had some before. A scalar subquery is never answered from all rows at once.
    points: `INSERT INTO listed_points (firm_uuid, uuid, ${points.join(', ')})
      SELECT call.firm_uuid, call.uuid, ${points.map((name) => `facts.${name}`).join(', ')} FROM ${from}
      WHERE facts.questions <> '{}' OR (
        SELECT true FROM listed_points AS former WHERE former.firm_uuid = call.firm_uuid AND former.uuid = call.uuid)
      ON CONFLICT ${conflict(points)}`,
  };
}

/** Writes the rows of calls that are locked, with the facts of their analyses. */
export async function listFacts(tx: Sql, calls: readonly CallFacts[], options?: { isNew: boolean }): Promise<void> {
  if (calls.length === 0) return;
  const from = `${factsFrom('$1')} JOIN call ON call.firm_uuid = facts.firm_uuid AND call.uuid = facts.call_uuid`;
  const { listed, points } = writeListed(from, options);
  await tx.query(`WITH listed AS (${listed}) ${points}`, [factsParameter(calls)]);
  await labelScorecards(tx, calls);
}

/** Writes what scorecards and questions are called now. */
export async function labelScorecards(tx: Sql, calls: readonly CallFacts[]): Promise<void> {
  const labels = new Map<string, { firm: string; uuid: string; text: string }>();
  for (const { firmUuid: firm, facts } of calls) {
    if (facts === null) continue;
    const named = [{ uuid: facts.scorecard.uuid, text: facts.scorecard.name }, ...facts.points];
    for (const { uuid, text } of named) labels.set(`${firm} ${uuid}`, { firm, uuid, text });
  }
  if (labels.size === 0) return;
  const all = [...labels.values()];
  // In one order, so that two transactions cannot wait for each other.
  await tx.query(
    `INSERT INTO scorecard_label (firm_uuid, uuid, text)
     SELECT firm, named.uuid, named.text FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS named (firm, uuid, text)
       LEFT JOIN scorecard_label AS known ON known.firm_uuid = firm AND known.uuid = named.uuid
     WHERE known.text IS DISTINCT FROM named.text ORDER BY 1, 2
     ON CONFLICT (firm_uuid, uuid) DO UPDATE SET text = excluded.text`,
    [all.map(({ firm }) => firm), all.map(({ uuid }) => uuid), all.map(({ text }) => text)],
  );
}

const MAX_SMALLINT = 32_767;
const MAX_INT = 2 ** 31 - 1;

function rowOf({ firmUuid, callUuid, analysisUuid, facts }: CallFacts) {
  const answered = facts?.points ?? [];
  const lost = answered.filter(({ points, maxPoints }) => points < maxPoints).map(({ uuid }) => uuid);
  return {
    firm_uuid: firmUuid,
    call_uuid: callUuid,
    analysis_uuid: analysisUuid,
    needs_review: Math.min(facts?.needsReview ?? 0, MAX_SMALLINT),
    auto_failed: facts?.autoFailed ?? false,
    auto_fail_suspected: facts?.autoFailSuspected ?? false,
    scorecard_uuid: facts?.scorecard.uuid ?? null,
    scorecard_revision: facts?.scorecard.revision ?? null,
    topics: orNull(facts?.topics ?? []),
    resolution: facts?.resolution ?? null,
    lost_points: orNull(lost),
    operator_talk: millionths(facts?.operatorTalk ?? null),
    silence: millionths(facts?.silence ?? null),
    interruptions: facts?.interruptions ?? null,
    client_sentiment: hundredths(facts?.clientSentiment ?? null),
    questions: answered.map(({ uuid }) => uuid),
    points: answered.map(({ points }) => thousandths(points)),
    max_points: answered.map(({ maxPoints }) => thousandths(maxPoints)),
  };
}

function orNull<Value>(values: readonly Value[]): readonly Value[] | null {
  return values.length === 0 ? null : values;
}

function thousandths(points: number): number {
  return Math.max(-MAX_INT, Math.min(Math.round(points * 1000), MAX_INT));
}

function millionths(share: number | null): number | null {
  return share === null ? null : Math.round(share * 1_000_000);
}

function hundredths(sentiment: number | null): number | null {
  return sentiment === null ? null : Math.round(sentiment * 100);
}
