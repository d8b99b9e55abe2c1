import {
  type Answer,
  type DecidedBy,
  type Evidence,
  type Heard,
  type PhraseDecision,
  phrasesOf,
  type Question,
} from '@call-analysis/events';
import { maxPoints } from '../scorecards/scorecard.ts';
import type { ScoredAnswer } from '../scorecards/totals.ts';
import type { SearchResult } from './search-conversation.ts';

export interface AnsweredQuestion {
  /** The answer as the analysis contains it. */
  readonly answer: Answer;
  readonly scored: ScoredAnswer;
}

/**
 * Answers a question of a scorecard from the matches in a conversation. The phrases of a question for a language model
 * answer as its fallback, for a person to review.
 */
export function answerQuestion(question: Question, result: SearchResult, isLanguageUnknown: boolean): AnsweredQuestion {
  const phrases = phrasesOf(question.decided);
  if (phrases === null) {
    return leaveForReview(question, 'It is left to a language model, and none has answered.');
  }
  if (result.isFirmSearchIncomplete && usesFirmPhrases(phrases)) {
    return leaveForReview(
      question,
      'The phrases of this scorecard match so often that the call was not searched to its end.',
    );
  }
  const outcome = applyRule(phrases, result);
  const { answer, scored, isAutoFail } = toAnswer(question, outcome);
  const isFallback = question.decided.by === 'model';
  const explanation = isLanguageUnknown
    ? `${outcome.explanation} The language of the call is unknown.`
    : outcome.explanation;
  const needs_review = isFallback || isLanguageUnknown || isAutoFail;
  return { answer: { ...answer, explanation, needs_review }, scored };
}

interface RuleOutcome {
  /** The label of the choice, or null when the question does not apply. */
  readonly label: string | null;
  readonly evidence: readonly Evidence[];
  readonly explanation: string;
}

function applyRule({ applies, cases, otherwise }: PhraseDecision, { matches, spoke }: SearchResult): RuleOutcome {
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

function usesFirmPhrases({ applies, cases }: PhraseDecision): boolean {
  const conditions = [...(applies.heard === null ? [] : [applies.heard]), ...cases.map(({ heard }) => heard)];
  return conditions.some(({ source }) => source.phrases !== undefined);
}

/** Leaves a question open, for a person to answer. It does not count for the score. */
function leaveForReview(question: Question, explanation: string): AnsweredQuestion {
  const { answer, scored } = toAnswer(question, { label: null, evidence: [], explanation });
  // No phrases were applied, so the question is still that of the model.
  const decided_by: DecidedBy = question.decided.by === 'model' ? 'model' : 'rule';
  return {
    answer: { ...answer, decided_by, not_applicable: false, evidence_absent: false, needs_review: true },
    scored,
  };
}

function toAnswer(question: Question, { label, evidence, explanation }: RuleOutcome) {
  const choice = question.choices.find((each) => each.label === label) ?? null;
  const points = choice?.points ?? null;
  const most = maxPoints(question);
  const isAutoFail = choice?.auto_fail ?? false;
  const answer: Answer = {
    uuid: question.uuid,
    text: question.text,
    weight: question.weight,
    answer: choice?.label ?? null,
    decided_by: question.decided.by === 'model' ? 'fallback' : 'rule',
    confidence: null,
    points,
    max_points: most,
    not_applicable: choice === null,
    evidence: [...evidence],
    evidence_absent: evidence.length === 0,
    needs_review: false,
    explanation,
  };
  // A phrase alone never fails a call.
  const autoFail = isAutoFail ? ('suspected' as const) : null;
  return { answer, scored: { weight: question.weight, points, maxPoints: most, autoFail }, isAutoFail };
}

function nothingHeard(condition: Heard): string {
  return `nothing of the kind was heard from the ${condition.role}${partOfCall(condition)}`;
}

function partOfCall(condition: Heard): string {
  if (condition.where === 'opening') return ' at the beginning of the call';
  return condition.where === 'closing' ? ' at the end of the call' : '';
}
