import type { ReviewedAnalysis, ReviewedAnswer } from '@call-analysis/events';
import type { PersonAnswer } from './scorecards.ts';

/** The machine's and the person's answer to one question; null is "not applicable". */
export interface ComparedAnswer {
  readonly uuid: string;
  readonly text: string;
  readonly machine: string | null;
  readonly person: string | null;
}

/**
 * The answers of a review that can be compared. One that the person does not name counts as agreed when the review is
 * done. A question that the machine left open has no answer to compare.
 */
export function compareAnswers(
  machine: ReviewedAnalysis,
  { answers, done }: { readonly answers: readonly PersonAnswer[]; readonly done: boolean },
): ComparedAnswer[] {
  const given = new Map(answers.map((each) => [each.question_uuid, each]));
  return machine.sections
    .flatMap(({ questions }) => questions)
    .flatMap((question) => {
      const person = given.get(question.uuid);
      if (isOpen(question) || (person === undefined && !done)) return [];
      const answer = person === undefined ? question.answer : person.answer;
      return [{ uuid: question.uuid, text: question.text, machine: question.answer, person: answer }];
    });
}

/** Releases before the field `decided_by` marked open questions as not applicable, without evidence either way. */
function isOpen({ answer, not_applicable, needs_review, evidence, evidence_absent }: ReviewedAnswer): boolean {
  if (answer !== null) return false;
  return !not_applicable || (needs_review && evidence.length === 0 && !evidence_absent);
}

export interface Confusion {
  readonly machine: string | null;
  readonly person: string | null;
  readonly count: number;
}

/**
 * How often machine and person gave the same answer, and Cohen's kappa, which takes off the agreement that chance alone
 * would bring. Kappa has no meaning where chance alone always agrees.
 */
export function agreementOf(confusion: readonly Confusion[]): { n: number; agreement: number; kappa: number | null } {
  const n = confusion.reduce((sum, { count }) => sum + count, 0);
  const agreed = confusion.reduce((sum, { machine, person, count }) => sum + (machine === person ? count : 0), 0);
  const total = (side: 'machine' | 'person', label: string | null) =>
    confusion.reduce((sum, each) => sum + (each[side] === label ? each.count : 0), 0);
  const labels = new Set(confusion.map(({ machine }) => machine));
  const byChance = [...labels].reduce((sum, label) => sum + total('machine', label) * total('person', label), 0);
  // Compared as whole numbers, because fractions that should be 1 may not be.
  const kappa = n === 0 || byChance === n * n ? null : (agreed * n - byChance) / (n * n - byChance);
  return { n, agreement: n === 0 ? 0 : agreed / n, kappa };
}
