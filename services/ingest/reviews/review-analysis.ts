import {
  CallReviewed,
  createEvent,
  type Event,
  type Review,
  type ReviewedAnalysis,
  type ReviewedAnswer,
} from '@call-analysis/events';
import { Fault, notFound } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import type { AddUpReply } from '@call-analysis/proto/analysis/v1/AddUpReply';
import { type Actor, auditEntry, type Publishing } from '@call-analysis/service';
import { factsOf } from '../calls/analysis-facts.ts';
import type { CallRow } from '../calls/call-row.ts';
import type { Calls } from '../calls/call-store.ts';
import { compareAnswers } from './compare-answers.ts';
import {
  changed,
  isRepeated,
  logged,
  type MachineAnswers,
  requireChangeable,
  requireReplaceable,
  type ReviewContent,
  type ReviewState,
} from './review-log.ts';
import { noteReview, type Reviews } from './review-store.ts';
import type { PersonAnswer, Scorecards } from './scorecards.ts';

export interface ReviewDeps extends Publishing {
  readonly calls: Calls;
  readonly reviews: Reviews;
  readonly scorecards: Scorecards;
}

/** What is written: a review instead of the one that stands, or changes of some of its answers. */
type NewReview = {
  readonly analysisUuid: string;
  /** The revision that the person has read; null: not said. */
  readonly basedOn: number | null;
} & (({ readonly isWhole: true } & ReviewContent) | ({ readonly isWhole: false } & ReviewChange));

/** Answers that are not named stay, and so does what is absent. */
type ReviewChange = Pick<ReviewContent, 'answers'> & Partial<Pick<ReviewContent, 'comment' | 'done'>>;

/** A call's review and the analysis that it is of. */
interface CurrentReview extends ReviewState {
  readonly analysisUuid: string;
}

/**
 * Stores a person's review of a call's current analysis, or changes the one that stands, and returns the analysis with it.
 * The machine's analysis stays as it is. What the same person says again changes nothing. Faults:
 * NOT_FOUND; ANALYSIS_CHANGED when another analysis is current; REVIEW_CHANGED and IF_MATCH_REQUIRED where this would replace
 * what another person has said since, or at all (review-log.ts); VALIDATION_ERROR. `alongside` is done in the transaction that
 * writes the review, and not where nothing is written.
 */
export async function reviewAnalysis(
  deps: ReviewDeps,
  actor: Actor,
  callUuid: string,
  review: NewReview,
  alongside?: (tx: Sql) => Promise<unknown>,
): Promise<ReviewedAnalysis> {
  for (;;) {
    const reviewed = await tryToReview(deps, actor, callUuid, review, alongside);
    if (reviewed !== null) return reviewed;
  }
}

/** Null when another person has changed the review meanwhile: then all is to be read again. */
async function tryToReview(
  deps: ReviewDeps,
  actor: Actor,
  callUuid: string,
  review: NewReview,
  alongside?: (tx: Sql) => Promise<unknown>,
): Promise<ReviewedAnalysis | null> {
  const { db, calls, reviews, bus, scorecards } = deps;
  const { firmUuid, userUuid } = actor;
  const { analysisUuid } = review;
  const ofCall = { firmUuid, callUuid };
  // Fault NOT_FOUND for an unknown call, before anything is said about its analysis.
  await calls.get(firmUuid, callUuid);
  if ((await reviews.currentUuid(db, firmUuid, callUuid)) !== analysisUuid) throw analysisChanged();
  const read = await reviews.machineAnalysis(db, firmUuid, callUuid, analysisUuid);
  const before = await reviews.state(db, ofCall, analysisUuid);
  const next = review.isWhole ? contentOf(review) : changed(before, review);
  if (isRepeated(before, userUuid, next)) return reviews.reviewed(db, ofCall, analysisUuid);
  const author = { userUuid, basedOn: review.basedOn };
  if (review.isWhole) requireReplaceable(before, author, answersOf(read));
  else requireChangeable(before, author, review.answers, answersOf(read));
  // Adding up is another service's work, so it is done before the transaction.
  const totals = await scorecards.addUp(actor, read, next.answers);
  return db.transaction(async (tx) => {
    const call = await calls.lock(tx, firmUuid, callUuid);
    if ((await reviews.currentUuid(tx, firmUuid, callUuid)) !== analysisUuid) throw analysisChanged();
    const state = await reviews.state(tx, ofCall, analysisUuid);
    if (state.log?.revision !== before.log?.revision) return null;
    await alongside?.(tx);
    // Read again: retention may have removed its quotes meanwhile.
    const machine = await reviews.machineAnalysis(tx, firmUuid, callUuid, analysisUuid);
    const at = new Date();
    const log = logged(state, userUuid, at, next);
    const { comment, done } = next;
    const said = { by: userUuid, at: at.toISOString(), comment, done, revision: log.revision };
    const reviewed = mergeReview(machine, next.answers, said, totals);
    await reviews.save(tx, ofCall, reviewed, next.answers);
    await noteReview(tx, ofCall, done);
    await reviews.saveLog(tx, ofCall, analysisUuid, log);
    await reviews.saveCompared(tx, ofCall, machine, compareAnswers(machine, next));
    await applyToCall(reviews, tx, firmUuid, call, reviewed, at);
    await bus.publish(tx, [
      auditEntry('ingest', actor, 'call.reviewed', callUuid),
      ...reviewedEvents(firmUuid, call, reviewed),
    ]);
    return reviewed;
  });
}

/** The review of the current analysis. Fault NOT_FOUND, also when there is none. */
export async function readReview(
  { db, calls, reviews }: Omit<ReviewDeps, 'scorecards'>,
  firmUuid: string,
  callUuid: string,
): Promise<CurrentReview> {
  await calls.get(firmUuid, callUuid);
  const analysisUuid = await reviews.currentUuid(db, firmUuid, callUuid);
  if (analysisUuid === null) throw notFound('review');
  const state = await reviews.state(db, { firmUuid, callUuid }, analysisUuid);
  if (state.review === null) throw notFound('review');
  return { ...state, analysisUuid };
}

/**
 * Takes back the review of the current analysis: the machine's answers count again. Faults: NOT_FOUND, also when there
 * is no review; REVIEW_CHANGED when its revision is not `basedOn`.
 */
export async function withdrawReview(
  { db, calls, reviews, bus }: Omit<ReviewDeps, 'scorecards'>,
  actor: Actor,
  callUuid: string,
  basedOn: number | null = null,
): Promise<ReviewedAnalysis> {
  const { firmUuid, userUuid } = actor;
  const ofCall = { firmUuid, callUuid };
  return db.transaction(async (tx) => {
    const call = await calls.lock(tx, firmUuid, callUuid);
    const current = await reviews.currentUuid(tx, firmUuid, callUuid);
    if (current === null) throw notFound('review');
    const state = await reviews.state(tx, ofCall, current);
    if (state.review === null) throw notFound('review');
    const machine = await reviews.machineAnalysis(tx, firmUuid, callUuid, current);
    if (basedOn !== null) requireReplaceable(state, { userUuid, basedOn }, answersOf(machine));
    await reviews.remove(tx, ofCall, current);
    await noteReview(tx, ofCall, false);
    await reviews.saveLog(tx, ofCall, current, logged(state, userUuid, new Date(), null));
    await applyToCall(reviews, tx, firmUuid, call, machine, null);
    await bus.publish(tx, [auditEntry('ingest', actor, 'call.review_withdrawn', callUuid)]);
    return machine;
  });
}

function contentOf({ answers, comment, done }: ReviewContent): ReviewContent {
  return { answers, comment, done };
}

function answersOf({ sections }: ReviewedAnalysis): MachineAnswers {
  return new Map(sections.flatMap(({ questions }) => questions).map(({ uuid, answer }) => [uuid, answer]));
}

/** The event about a review. None while the call is processed: its end is published anyway. */
function reviewedEvents(firmUuid: string, call: CallRow, { score }: ReviewedAnalysis): Event[] {
  const { status } = call;
  if (status !== 'completed' && status !== 'failed') return [];
  const origin = { firmuuid: firmUuid };
  return [
    createEvent('ingest', CallReviewed, call.uuid, origin, {
      status,
      outcome: call.outcome === 'scored' || call.outcome === 'no_speech' ? call.outcome : null,
      score,
      segment_type: call.segment_type,
      partner_call_id: call.partner_call_id,
      batch_uuid: call.batch_uuid,
      campaign_uuid: call.campaign_uuid,
      failure: call.failure,
    }),
  ];
}

/** The call's score is that of its current analysis, with its review. A call without speech keeps none. */
async function applyToCall(
  reviews: Reviews,
  tx: Sql,
  firmUuid: string,
  call: CallRow,
  analysis: ReviewedAnalysis,
  reviewedAt: Date | null,
): Promise<void> {
  if (call.outcome === 'no_speech') throw analysisChanged();
  await reviews.applyToCall(tx, { firmUuid, callUuid: call.uuid }, analysis.score, factsOf(analysis), reviewedAt);
}

function analysisChanged(): Fault {
  const message = 'This is not the current analysis of the call. Read the call again and review what it shows now.';
  return new Fault('conflict', 'ANALYSIS_CHANGED', message);
}

/**
 * The machine's analysis with a person's answers. Questions that the person does not name keep the machine's answer.
 * After a review that is done, no answer needs a review.
 */
function mergeReview(
  machine: ReviewedAnalysis,
  answers: readonly PersonAnswer[],
  review: Review,
  totals: AddUpReply,
): ReviewedAnalysis {
  const given = new Map(answers.map((each) => [each.question_uuid, each]));
  const points = new Map(totals.questions.map((each) => [each.question_uuid, each.points ?? null]));
  return {
    ...machine,
    score: totals.score ?? null,
    auto_failed: totals.auto_failed,
    auto_fail_suspected: totals.auto_fail_suspected,
    score_source: 'reviewed',
    review,
    sections: machine.sections.map((section, index) => ({
      ...section,
      score: totals.sections[index]?.score ?? null,
      questions: section.questions.map((question) => {
        const person = given.get(question.uuid);
        if (person === undefined) return { ...question, needs_review: question.needs_review && !review.done };
        return decidedByPerson(question, person, points.get(question.uuid) ?? null);
      }),
    })),
  };
}

/** Quotes support the machine's answer, so they stay only where the person gave the same. */
function decidedByPerson(question: ReviewedAnswer, person: PersonAnswer, points: number | null): ReviewedAnswer {
  const isSame = question.answer === person.answer && question.not_applicable === (person.answer === null);
  return {
    ...question,
    answer: person.answer,
    points,
    not_applicable: person.answer === null,
    decided_by: 'person',
    confidence: null,
    needs_review: false,
    comment: person.comment,
    machine: { answer: question.answer, decided_by: question.decided_by, confidence: question.confidence },
    ...(!isSame && { evidence: [], evidence_absent: false, explanation: person.comment ?? '' }),
  };
}
