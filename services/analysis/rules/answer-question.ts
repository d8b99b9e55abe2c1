import type { Answer, Evidence, Heard, Question, RuleDecision } from '@call-analysis/events';
import { maxPoints } from '../scorecards/scorecard.ts';
import type { ScoredAnswer } from '../scorecards/totals.ts';
import type { SearchResult } from './search-conversation.ts';

export interface AnsweredQuestion {
  /** The answer as the analysis contains it. */
  readonly answer: Answer;
  readonly scored: ScoredAnswer;
}

/** Answers a question of a scorecard from the matches in a conversation. */
export function answerQuestion(question: Question, result: SearchResult, isLanguageUnknown: boolean): AnsweredQuestion {
  const { decided } = question;
  if (decided.by === 'model') {
    return leaveForReview(question, 'It is left to a language model, and none has answered.');
  }
  if (result.isFirmSearchIncomplete && usesFirmPhrases(decided)) {
    return leaveForReview(
      question,
      'The phrases of this scorecard match so often that the call was not searched to its end.',
    );
  }
  const outcome = applyRule(decided, result);
  const answered = toAnswer(question, outcome);
  if (!isLanguageUnknown) return answered;
  const explanation = `${outcome.explanation} The language of the call is unknown.`;
  return { ...answered, answer: { ...answered.answer, explanation, needs_review: true } };
}

interface RuleOutcome {
  /** The label of the choice, or null when the question does not apply. */
  readonly label: string | null;
  readonly evidence: readonly Evidence[];
  readonly explanation: string;
}

function applyRule({ applies, cases, otherwise }: RuleDecision, { matches, spoke }: SearchResult): RuleOutcome {
  const count = (condition: Heard) => matches.get(condition)?.count ?? 0;
  const silent = applies.spoke.find((role) => !spoke[role]);
  if (silent !== undefined) {
    return { label: null, evidence: [], explanation: `Does not apply: the ${silent} said nothing.` };
  }
  if (applies.heard !== null && count(applies.heard) < applies.heard.at_least) {
    return { label: null, evidence: [], explanation: `Does not apply: ${nothingHeard(applies.heard)}.` };
  }
  const first = cases.find(({ heard }) => count(heard) >= heard.at_least);
  if (first === undefined) {
    const reason = cases.map(({ heard }) => nothingHeard(heard))[0] ?? 'nothing was listened for';
    return { label: otherwise, evidence: [], explanation: `${otherwise}: ${reason}.` };
  }
  const times = count(first.heard);
  const often = times === 1 ? 'once' : `${times} times`;
  return {
    label: first.answer,
    evidence: matches.get(first.heard)?.evidence ?? [],
    explanation: `${first.answer}: the ${first.heard.role} said it ${often}${partOfCall(first.heard)}.`,
  };
}

function usesFirmPhrases({ applies, cases }: RuleDecision): boolean {
  const conditions = [...(applies.heard === null ? [] : [applies.heard]), ...cases.map(({ heard }) => heard)];
  return conditions.some(({ source }) => source.phrases !== undefined);
}

/** An answer for a question that a person must decide. It does not count for the score. */
function leaveForReview(question: Question, explanation: string): AnsweredQuestion {
  const { answer, scored } = toAnswer(question, { label: null, evidence: [], explanation });
  return { answer: { ...answer, evidence_absent: false, needs_review: true }, scored };
}

function toAnswer(question: Question, { label, evidence, explanation }: RuleOutcome): AnsweredQuestion {
  const choice = question.choices.find((each) => each.label === label) ?? null;
  const points = choice?.points ?? null;
  const most = maxPoints(question);
  return {
    answer: {
      uuid: question.uuid,
      text: question.text,
      weight: question.weight,
      answer: choice?.label ?? null,
      points,
      max_points: most,
      not_applicable: choice === null,
      evidence: [...evidence],
      evidence_absent: evidence.length === 0,
      needs_review: false,
      explanation,
    },
    scored: { weight: question.weight, points, maxPoints: most, autoFail: choice?.auto_fail ?? false },
  };
}

function nothingHeard(condition: Heard): string {
  return `nothing of the kind was heard from the ${condition.role}${partOfCall(condition)}`;
}

function partOfCall(condition: Heard): string {
  if (condition.where === 'opening') return ' at the beginning of the call';
  return condition.where === 'closing' ? ' at the end of the call' : '';
}
