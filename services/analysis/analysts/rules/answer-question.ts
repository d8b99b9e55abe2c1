import {
  type Answer,
  type DecidedBy,
  type Evidence,
  type Heard,
  type Language,
  type PhraseDecision,
  phrasesOf,
  type Question,
} from '@call-analysis/events';
import { maxPoints } from '../../scorecards/scorecard.ts';
import type { ScoredAnswer } from '../../scorecards/totals.ts';
import { confidenceOf, type OutcomeKind, RELIABLE } from './confidence.ts';
import { hasPhrases } from './phrases/language-phrases.ts';
import type { SearchResult } from './search-conversation.ts';
import { SENTENCES, type Sentences } from './sentences.ts';

interface AnsweredQuestion {
  /** The answer as the analysis contains it. */
  readonly answer: Answer;
  readonly scored: ScoredAnswer;
}

interface AnswerOptions {
  /** Of the call; null when it is unknown. Its answers are then for review. */
  readonly language: Language | null;
  /** Of the explanations. */
  readonly firmLanguage: Language;
  /** Answers that are less sure than this are for review. */
  readonly reviewBelow: number;
}

/**
 * Answers a question of a scorecard from the matches in a conversation. The phrases of a question for a language model
 * decide it like those of a rule where their answers are nearly always right. Otherwise they answer as its fallback, for a person to
 * review.
 */
export function answerQuestion(question: Question, result: SearchResult, options: AnswerOptions): AnsweredQuestion {
  const { language, firmLanguage, reviewBelow } = options;
  const sentences = SENTENCES[firmLanguage];
  const phrases = phrasesOf(question.decided);
  if (phrases === null) return leaveOpen(question, sentences.leftToModel, false);
  const sources = sourcesOf(phrases);
  if (sources.some(({ lexicon }) => lexicon !== undefined && !hasPhrases(lexicon))) {
    return question.decided.by === 'model'
      ? leaveOpen(question, sentences.leftToModel, false)
      : leaveOpen(question, sentences.withoutPhrases, true);
  }
  if (result.isFirmSearchIncomplete && sources.some((source) => source.phrases !== undefined)) {
    return leaveOpen(question, sentences.tooManyMatches, true);
  }
  const outcome = applyRule(phrases, result, sentences);
  const { answer, scored, isAutoFail } = toAnswer(question, outcome);
  const explanation = language === null ? `${outcome.explanation} ${sentences.unknownLanguage}` : outcome.explanation;
  const confidence = language === null ? null : confidenceOf(phrases, outcome.kind, language);
  const isFallback = question.decided.by === 'model' && (confidence ?? 0) < RELIABLE;
  const decided_by: DecidedBy = isFallback ? 'fallback' : 'rule';
  const isUnsure = confidence !== null && confidence < reviewBelow;
  const needs_review = isFallback || language === null || isAutoFail || isUnsure;
  return { answer: { ...answer, decided_by, explanation, confidence, needs_review }, scored };
}

interface RuleOutcome {
  /** The label of the choice, or null when the question does not apply. */
  readonly label: string | null;
  readonly evidence: readonly Evidence[];
  readonly explanation: string;
}

function applyRule(
  { applies, cases, otherwise }: PhraseDecision,
  { matches, spoke }: SearchResult,
  sentences: Sentences,
): RuleOutcome & { readonly kind: OutcomeKind } {
  const count = (condition: Heard) => matches.get(condition)?.count ?? 0;
  const silent = applies.spoke.find((role) => !spoke[role]);
  if (silent !== undefined) {
    return { kind: 'not_applicable', label: null, evidence: [], explanation: sentences.silent(silent) };
  }
  if (applies.heard !== null && count(applies.heard) < applies.heard.at_least) {
    const { role, where } = applies.heard;
    return { kind: 'not_applicable', label: null, evidence: [], explanation: sentences.notApplicable(role, where) };
  }
  const first = cases.findIndex(({ heard }) => count(heard) >= heard.at_least);
  const met = cases[first];
  if (met === undefined) {
    // A decision has at least one case.
    const { role, where } = cases[0]!.heard;
    return {
      kind: 'otherwise',
      label: otherwise,
      evidence: [],
      explanation: sentences.notSaid(otherwise, role, where),
    };
  }
  const { heard, answer } = met;
  return {
    kind: first,
    label: answer,
    evidence: matches.get(heard)?.evidence ?? [],
    explanation: sentences.said(answer, heard.role, heard.where, count(heard)),
  };
}

function sourcesOf({ applies, cases }: PhraseDecision): Heard['source'][] {
  return [...(applies.heard === null ? [] : [applies.heard]), ...cases.map(({ heard }) => heard)].map(
    ({ source }) => source,
  );
}

/**
 * Leaves a question open. It does not count for the score. Where nobody but a language model was to answer it, there is no answer
 * to review: nearly every question of a firm without a model would be for review.
 */
function leaveOpen(question: Question, explanation: string, needs_review: boolean): AnsweredQuestion {
  const { answer, scored } = toAnswer(question, { label: null, evidence: [], explanation });
  // No phrases were applied, so the question is still that of the model.
  const decided_by: DecidedBy = question.decided.by === 'model' ? 'model' : 'rule';
  return {
    answer: { ...answer, decided_by, not_applicable: false, evidence_absent: false, needs_review },
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
    decided_by: 'rule',
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
