import { type FieldFault, invalidFields } from '@call-analysis/fault';
import type { StoredScorecard } from './scorecard-store.ts';
import { maxPoints } from './scorecard.ts';
import { computeTotals, type ScoredAnswer, type Totals } from './totals.ts';

export interface GivenAnswer {
  readonly questionUuid: string;
  /** The label; null when the question is open or does not apply. */
  readonly answer: string | null;
  readonly decidedBy: string;
}

interface AddedUp extends Totals {
  readonly questions: readonly { readonly uuid: string; readonly points: number | null; readonly maxPoints: number }[];
}

/**
 * Adds up a call whose answers a person has reviewed, by the rules of every other analysis. A person's answer may fail the
 * call, as may a model's that did so before the review. Fault VALIDATION_ERROR for a question or a label that the scorecard
 * does not have.
 */
export function addUp(
  scorecard: Pick<StoredScorecard, 'sections'>,
  machine: readonly GivenAnswer[],
  person: readonly GivenAnswer[],
  machineAutoFailed: boolean,
): AddedUp {
  checkAnswers(scorecard, person);
  const answers = new Map([...machine, ...person].map((given) => [given.questionUuid, given]));
  const scored = scorecard.sections.map((section) =>
    section.questions.map((question) => {
      const given = answers.get(question.uuid);
      const choice = question.choices.find(({ label }) => label === given?.answer);
      const isProved = given?.decidedBy === 'person' || (given?.decidedBy === 'model' && machineAutoFailed);
      const answer: ScoredAnswer = {
        weight: question.weight,
        points: choice?.points ?? null,
        maxPoints: maxPoints(question),
        autoFail: choice?.auto_fail === true ? (isProved ? 'proved' : 'suspected') : null,
      };
      return { uuid: question.uuid, answer };
    }),
  );
  return {
    ...computeTotals(scored.map((questions) => questions.map(({ answer }) => answer))),
    questions: scored.flat().map(({ uuid, answer }) => ({ uuid, points: answer.points, maxPoints: answer.maxPoints })),
  };
}

function checkAnswers({ sections }: Pick<StoredScorecard, 'sections'>, person: readonly GivenAnswer[]): void {
  const questions = new Map(sections.flatMap((section) => section.questions.map((each) => [each.uuid, each] as const)));
  const seen = new Set<string>();
  const faults = person.flatMap(({ questionUuid, answer }, index): FieldFault[] => {
    const question = questions.get(questionUuid);
    const fault = (name: string, message: string) => [{ field: `answers.${index}.${name}`, code: 'INVALID', message }];
    if (question === undefined) return fault('question_uuid', 'is not a question of this analysis');
    if (seen.has(questionUuid)) return fault('question_uuid', 'must differ from those of the other answers');
    seen.add(questionUuid);
    const labels = question.choices.map(({ label }) => label);
    if (answer === null || labels.includes(answer)) return [];
    return fault('answer', `must be one of ${labels.join(', ')}, or null for not applicable`);
  });
  if (faults.length > 0) throw invalidFields(faults);
}
