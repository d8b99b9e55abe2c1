import type { Bus } from '@call-analysis/bus';
import { CallReviewed, createEvent, type Event, type ReviewedAnalysis } from '@call-analysis/events';
import { Fault, notFound } from '@call-analysis/fault';
import { currentContext } from '@call-analysis/runtime';
import { type Actor, auditEntry } from '@call-analysis/service';
import { factsOf } from '../results/analysis-facts.ts';
import type { CallRow, Store } from '../store/index.ts';
import { compareAnswers } from './compare-answers.ts';
import { mergeReview } from './merge-review.ts';
import type { PersonAnswer, Scorecards } from './scorecards.ts';

interface Parts {
  readonly store: Store;
  readonly bus: Bus;
  readonly scorecards: Scorecards;
}

interface NewReview {
  readonly analysisUuid: string;
  readonly answers: readonly PersonAnswer[];
  readonly comment: string | null;
  readonly done: boolean;
}

/**
 * Stores a person's review of a call's current analysis, instead of an earlier one, and returns the analysis with it.
 * The machine's analysis stays as it is beside the review. Faults: NOT_FOUND; ANALYSIS_CHANGED when another analysis is
 * current; VALIDATION_ERROR.
 */
export async function reviewAnalysis(
  { store, bus, scorecards }: Parts,
  actor: Actor,
  callUuid: string,
  review: NewReview,
): Promise<ReviewedAnalysis> {
  const { firmUuid } = actor;
  const { analysisUuid } = review;
  // Adding up is another service's work, so it is done before the transaction.
  const read = await currentAnalysis(store, firmUuid, callUuid, analysisUuid);
  const totals = await scorecards.addUp(actor, read, review.answers);
  return store.transaction(async (tx) => {
    const call = await store.calls.lock(tx, firmUuid, callUuid);
    if ((await store.reviews.currentUuid(tx, firmUuid, callUuid)) !== analysisUuid) throw analysisChanged();
    // Read again: retention may have removed its quotes meanwhile.
    const machine = await store.reviews.machineAnalysis(tx, firmUuid, callUuid, analysisUuid);
    const at = new Date();
    const said = { by: actor.userUuid, at: at.toISOString(), comment: review.comment, done: review.done };
    const reviewed = mergeReview(machine, review.answers, said, totals);
    await store.reviews.save(tx, { firmUuid, callUuid }, reviewed, review.answers);
    await store.reviews.saveCompared(tx, { firmUuid, callUuid }, machine, compareAnswers(machine, review));
    await applyToCall(store, tx, firmUuid, call, reviewed, at);
    await bus.publish(tx, [
      auditEntry('ingest', actor, 'call.reviewed', callUuid),
      ...reviewedEvents(firmUuid, call, reviewed),
    ]);
    return reviewed;
  });
}

/**
 * Takes back the review of the current analysis: the machine's answers count again. Faults: NOT_FOUND, also when there
 * is no review.
 */
export async function withdrawReview(
  { store, bus }: Pick<Parts, 'store' | 'bus'>,
  actor: Actor,
  callUuid: string,
): Promise<ReviewedAnalysis> {
  const { firmUuid } = actor;
  return store.transaction(async (tx) => {
    const call = await store.calls.lock(tx, firmUuid, callUuid);
    const current = await store.reviews.currentUuid(tx, firmUuid, callUuid);
    if (current === null || !(await store.reviews.remove(tx, { firmUuid, callUuid }, current)))
      throw notFound('review');
    const machine = await store.reviews.machineAnalysis(tx, firmUuid, callUuid, current);
    await applyToCall(store, tx, firmUuid, call, machine, null);
    await bus.publish(tx, [auditEntry('ingest', actor, 'call.review_withdrawn', callUuid)]);
    return machine;
  });
}

/** The event about a review. None while the call is processed: its end is published anyway. */
function reviewedEvents(firmUuid: string, call: CallRow, { score }: ReviewedAnalysis): Event[] {
  const { status } = call;
  if (status !== 'completed' && status !== 'failed') return [];
  const origin = { firmuuid: firmUuid, priority: 0, traceparent: currentContext()?.traceparent };
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
  store: Store,
  tx: Parameters<Store['reviews']['applyToCall']>[0],
  firmUuid: string,
  call: CallRow,
  analysis: ReviewedAnalysis,
  reviewedAt: Date | null,
): Promise<void> {
  if (call.outcome === 'no_speech') throw analysisChanged();
  await store.reviews.applyToCall(tx, { firmUuid, callUuid: call.uuid }, analysis.score, factsOf(analysis), reviewedAt);
}

async function currentAnalysis(
  store: Store,
  firmUuid: string,
  callUuid: string,
  analysisUuid: string,
): Promise<ReviewedAnalysis> {
  // Fault NOT_FOUND for an unknown call, before anything is said about its analysis.
  await store.calls.get(firmUuid, callUuid);
  if ((await store.reviews.currentUuid(store.db, firmUuid, callUuid)) !== analysisUuid) throw analysisChanged();
  return store.reviews.machineAnalysis(store.db, firmUuid, callUuid, analysisUuid);
}

function analysisChanged(): Fault {
  const message = 'This is not the current analysis of the call. Read the call again and review what it shows now.';
  return new Fault('conflict', 'ANALYSIS_CHANGED', message);
}
