import type { Review, ReviewedAnalysis, ReviewedAnswer } from '@call-analysis/events';
import type { AddUpReply } from '@call-analysis/proto/analysis/v1/AddUpReply';
import type { PersonAnswer } from './scorecards.ts';

/**
 * The machine's analysis with a person's answers. Questions that the person does not name keep the machine's answer.
 * After a review that is done, no answer needs a review.
 */
export function mergeReview(
  machine: ReviewedAnalysis,
  answers: readonly PersonAnswer[],
  review: Review,
  totals: AddUpReply,
): ReviewedAnalysis {
  const given = new Map(answers.map((each) => [each.questionUuid, each]));
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
