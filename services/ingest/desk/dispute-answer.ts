import type { DisputeDecision, NewDispute } from '@call-analysis/api/desk';
import type { ReviewedAnalysis } from '@call-analysis/events';
import { Fault, invalidFields, notFound } from '@call-analysis/fault';
import type { Sql } from '@call-analysis/postgres';
import { auditEntry, type Person } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { Calls } from '../calls/call-store.ts';
import { reviewAnalysis, type ReviewDeps } from '../reviews/review-analysis.ts';
import { endLease } from '../reviews/review-store.ts';
import type { Dispute, Disputes } from './dispute-store.ts';

interface Deps extends ReviewDeps {
  readonly disputes: Disputes;
}

/**
 * Disagrees with an answer of the call's current analysis. Faults: NOT_FOUND; VALIDATION_ERROR for a question that the
 * analysis does not have; DISPUTE_EXISTS while another dispute of the question is open.
 */
export async function disputeAnswer(
  { db, calls, bus, disputes }: Omit<Deps, 'scorecards'>,
  caller: Person,
  callUuid: string,
  { question_uuid: questionUuid, reason }: z.output<typeof NewDispute>,
): Promise<Dispute> {
  const { firmUuid, userUuid } = caller;
  const analysis = await currentAnalysis(calls, firmUuid, callUuid);
  const questions = analysis?.sections.flatMap((section) => section.questions) ?? [];
  if (!questions.some(({ uuid }) => uuid === questionUuid)) {
    const message = 'is not a question of the current analysis of this call';
    throw invalidFields([{ field: 'question_uuid', code: 'INVALID', message }]);
  }
  const dispute: Dispute = {
    uuid: uuidv7(),
    call_uuid: callUuid,
    question_uuid: questionUuid,
    reason,
    status: 'open',
    by: userUuid,
    at: new Date(),
    comment: null,
    decided_by: null,
    decided_at: null,
  };
  await db.transaction(async (tx) => {
    // Locked, so that an erasure at the same time removes the dispute too, or makes the call unknown.
    await calls.lock(tx, firmUuid, callUuid);
    if (!(await disputes.add(tx, firmUuid, dispute))) {
      const message = 'A dispute of this answer is open already. Wait until it is decided.';
      throw new Fault('conflict', 'DISPUTE_EXISTS', message);
    }
    await bus.publish(tx, [auditEntry('ingest', caller, 'call.answer_disputed', callUuid)]);
  });
  return dispute;
}

/**
 * Accepts or rejects an open dispute. With an answer (null: the question does not apply), an accepted one changes the review of the call in the same
 * transaction, so that of two decisions at the same time one counts. Faults: NOT_FOUND; INVALID_TRANSITION when it has been
 * decided; those of a review.
 */
export async function decideDispute(
  deps: Deps,
  caller: Person,
  uuid: string,
  decision: z.output<typeof DisputeDecision>,
): Promise<Dispute> {
  const { db, calls, bus, disputes } = deps;
  const { firmUuid } = caller;
  const found = await disputes.get(firmUuid, uuid);
  requireOpen(found);
  let decided: Dispute | undefined;
  const decide = async (tx: Sql) => {
    const dispute = await disputes.get(firmUuid, uuid, tx);
    requireOpen(dispute);
    const { status, comment } = decision;
    decided = { ...dispute, status, comment, decided_by: caller.userUuid, decided_at: new Date() };
    await disputes.decide(tx, firmUuid, decided);
    await endLease(tx, { firmUuid, callUuid: dispute.call_uuid });
    await bus.publish(tx, [auditEntry('ingest', caller, `dispute.${status}`, dispute.call_uuid)]);
    return decided;
  };
  if (decision.status === 'accepted' && decision.answer !== undefined)
    await changeAnswer(deps, caller, found, { answer: decision.answer, comment: decision.comment }, decide);
  // Also where the review has the answer already.
  if (decided !== undefined) return decided;
  return db.transaction(async (tx) => {
    await calls.lock(tx, firmUuid, found.call_uuid);
    return decide(tx);
  });
}

function requireOpen({ status }: Dispute): void {
  if (status !== 'open') throw new Fault('conflict', 'INVALID_TRANSITION', `The dispute has been ${status} already.`);
}

/** What people have answered before stays. */
async function changeAnswer(
  deps: Deps,
  caller: Person,
  { call_uuid: callUuid, question_uuid }: Dispute,
  answer: { readonly answer: string | null; readonly comment: string },
  alongside: (tx: Sql) => Promise<unknown>,
): Promise<void> {
  const current = await currentAnalysis(deps.calls, caller.firmUuid, callUuid);
  if (current === null) throw notFound('analysis');
  const review = {
    analysisUuid: current.uuid,
    // Whoever decides the dispute has read what stands.
    basedOn: current.review?.revision ?? null,
    isWhole: false,
    answers: [{ question_uuid, ...answer }],
  } as const;
  await reviewAnalysis(deps, caller, callUuid, review, alongside);
}

/** With its review; null without one. Fault: NOT_FOUND. */
async function currentAnalysis(calls: Calls, firmUuid: string, callUuid: string): Promise<ReviewedAnalysis | null> {
  return (await calls.withAnalyses(firmUuid, callUuid)).current;
}
