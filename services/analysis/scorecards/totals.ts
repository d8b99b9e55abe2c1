import type { Analysis, Answer, Question } from '@call-analysis/events';
import { type FieldFault, invalidFields } from '@call-analysis/fault';
import type { GivenAnswer } from '@call-analysis/proto/analysis/v1/GivenAnswer';
import type { StoredScorecard } from './scorecard-store.ts';
import { maxPoints, type Scorecard } from './scorecard.ts';

/** The contribution of an answer to the totals. */
export interface ScoredAnswer {
  readonly weight: number;
  /** Null when the question does not apply. */
  readonly points: number | null;
  readonly maxPoints: number;
  /**
   * Whether the answer fails the call: `proved` by a model's verified answer or a person's, otherwise only `suspected`,
   * which changes no score.
   */
  readonly autoFail: 'proved' | 'suspected' | null;
}

/**
 * Computes the scores of a call. An answer counts with its weight times its share of the question's maximum points. A
 * question that does not apply counts neither way. An auto-fail makes the total 0 and leaves the scores of the
 * sections, which show how the rest of the call was. Scores are from 0 to 100 with one decimal, or null when no question
 * applies.
 */
export function computeTotals(sections: readonly (readonly ScoredAnswer[])[]) {
  const has = (autoFail: ScoredAnswer['autoFail']) =>
    sections.some((answers) => answers.some((answer) => answer.autoFail === autoFail && answer.points !== null));
  const autoFailed = has('proved');
  return {
    score: autoFailed ? 0 : scoreOf(sections.flat()),
    sections: sections.map(scoreOf),
    autoFailed,
    /** An answer may fail the call, and none is proved to. */
    autoFailSuspected: !autoFailed && has('suspected'),
  };
}

function scoreOf(answers: readonly ScoredAnswer[]): number | null {
  // Weights are divided by the largest, so that very small or large ones do not leave the range of doubles.
  const largest = answers.reduce((most, answer) => (answer.points === null ? most : Math.max(most, answer.weight)), 0);
  if (largest === 0) return null;
  let reached = 0;
  let reachable = 0;
  for (const { weight, points, maxPoints } of answers) {
    if (points === null) continue;
    reached += (weight / largest) * (points / maxPoints);
    reachable += weight / largest;
  }
  return Math.min(100, Math.round((reached / reachable) * 1000) / 10);
}

/** The part of an analysis that has scores. `answers` are those of the questions of each section. */
export function withScores(
  { sections }: Pick<Scorecard, 'sections'>,
  answers: readonly (readonly Answer[])[],
): Pick<Analysis, 'score' | 'auto_failed' | 'auto_fail_suspected' | 'sections'> {
  const totals = computeTotals(
    sections.map(({ questions }, section) =>
      questions.map((question, index) => scoredAnswer(question, answers[section]![index]!)),
    ),
  );
  return {
    score: totals.score,
    auto_failed: totals.autoFailed,
    auto_fail_suspected: totals.autoFailSuspected,
    sections: sections.map(({ name }, section) => ({
      name,
      score: totals.sections[section] ?? null,
      questions: [...answers[section]!],
    })),
  };
}

/** A phrase alone never fails a call. */
function scoredAnswer({ choices }: Question, answer: Answer): ScoredAnswer {
  const { weight, points, max_points: most, decided_by, needs_review, evidence } = answer;
  const fails = choices.some(({ label, auto_fail }) => label === answer.answer && auto_fail);
  const isProved = decided_by === 'model' && !needs_review && evidence.length > 0;
  return { weight, points, maxPoints: most, autoFail: fails ? (isProved ? 'proved' : 'suspected') : null };
}

/**
 * Adds up a call whose answers a person has reviewed, by the rules of every other analysis. A person's answer may fail the
 * call, as may a model's that did so before the review: a verified one, or any where none of them is said to be, as in analyses
 * whose words were doubtful. Fault VALIDATION_ERROR for a question or a label that the scorecard does not have.
 */
export function addUp(
  scorecard: Pick<StoredScorecard, 'sections'>,
  machine: readonly GivenAnswer[],
  person: readonly GivenAnswer[],
  machineAutoFailed: boolean,
) {
  checkAnswers(scorecard, person);
  const answers = new Map([...machine, ...person].map((given) => [given.question_uuid, given]));
  const questions = new Map(
    scorecard.sections.flatMap((section) => section.questions.map((each) => [each.uuid, each])),
  );
  const fails = ({ question_uuid, answer }: GivenAnswer) =>
    questions.get(question_uuid)?.choices.some(({ label, auto_fail }) => auto_fail && label === answer) === true;
  const isVerified = ({ decided_by, is_verified }: GivenAnswer) => decided_by === 'model' && is_verified;
  const isOneVerified = machine.some((each) => fails(each) && isVerified(each));
  const isProved = (given: GivenAnswer) =>
    given.decided_by === 'person' ||
    (machineAutoFailed && (isOneVerified ? isVerified(given) : given.decided_by === 'model'));
  const scored = scorecard.sections.map((section) =>
    section.questions.map((question) => {
      const given = answers.get(question.uuid);
      const choice = question.choices.find(({ label }) => label === given?.answer);
      const answer: ScoredAnswer = {
        weight: question.weight,
        points: choice?.points ?? null,
        maxPoints: maxPoints(question),
        autoFail: given !== undefined && fails(given) ? (isProved(given) ? 'proved' : 'suspected') : null,
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
  const faults = person.flatMap(({ question_uuid: questionUuid, answer }, index): FieldFault[] => {
    const question = questions.get(questionUuid);
    const fault = (name: string, message: string) => [{ field: `answers.${index}.${name}`, code: 'INVALID', message }];
    if (question === undefined) return fault('question_uuid', 'is not a question of this analysis');
    if (seen.has(questionUuid)) return fault('question_uuid', 'must differ from those of the other answers');
    seen.add(questionUuid);
    const labels = question.choices.map(({ label }) => label);
    if (answer === undefined || labels.includes(answer)) return [];
    return fault('answer', `must be one of ${labels.join(', ')}, or null for not applicable`);
  });
  if (faults.length > 0) throw invalidFields(faults);
}
