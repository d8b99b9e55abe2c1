import {
  type Answer,
  type DecidedBy,
  type Evidence,
  type Heard,
  type PhraseDecision,
  phrasesOf,
  type Question,
  type Role,
} from '@call-analysis/events';
import { maxPoints } from '../../scorecards/scorecard.ts';
import type { Conversation } from '../analyst.ts';
import { confidenceOf, type OutcomeKind, RELIABLE } from './confidence.ts';
import { hasPhrases } from './phrases/language-phrases.ts';
import type { SearchResult } from './search-conversation.ts';
import { SENTENCES, type Sentences } from './sentences.ts';

/** The language of the call, whose answers are for review if it is unknown, and that of the explanations. */
type AnswerOptions = Pick<Conversation, 'language' | 'firmLanguage'> & {
  /** Answers that are less sure than this are for review. */
  readonly reviewBelow: number;
};

/**
 * Answers a question of a scorecard from the matches in a conversation. The phrases of a question for a language model
 * decide it like those of a rule where their answers are nearly always right. Otherwise they answer as its fallback, for a person to
 * review.
 */
export function answerQuestion(question: Question, result: SearchResult, options: AnswerOptions): Answer {
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
  const answer = toAnswer(question, outcome);
  const isAutoFail = question.choices.some(({ label, auto_fail }) => auto_fail && label === outcome.label);
  const explanation = language === null ? `${outcome.explanation} ${sentences.unknownLanguage}` : outcome.explanation;
  const confidence = language === null ? null : confidenceOf(phrases, outcome.kind, language);
  const isFallback = question.decided.by === 'model' && (confidence ?? 0) < RELIABLE;
  const decided_by: DecidedBy = isFallback ? 'fallback' : 'rule';
  const isUnsure = confidence !== null && confidence < reviewBelow;
  const needs_review = isFallback || language === null || isAutoFail || isUnsure;
  return { ...answer, decided_by, explanation, confidence, needs_review };
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
  const who = (role: Role) => sentences.speaker[role].toLowerCase();
  const silent = applies.spoke.find((role) => !spoke[role]);
  if (silent !== undefined) {
    return { kind: 'not_applicable', label: null, evidence: [], explanation: sentences.silent(who(silent)) };
  }
  if (applies.heard !== null && count(applies.heard) < applies.heard.at_least) {
    const { role, where } = applies.heard;
    return {
      kind: 'not_applicable',
      label: null,
      evidence: [],
      explanation: sentences.notApplicable(who(role), where),
    };
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
      explanation: sentences.notSaid(otherwise, who(role), where),
    };
  }
  const { heard, answer } = met;
  return {
    kind: first,
    label: answer,
    evidence: matches.get(heard)?.evidence ?? [],
    explanation: sentences.said(answer, who(heard.role), heard.where, count(heard)),
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
function leaveOpen(question: Question, explanation: string, needs_review: boolean): Answer {
  const answer = toAnswer(question, { label: null, evidence: [], explanation });
  // No phrases were applied, so the question is still that of the model.
  const decided_by: DecidedBy = question.decided.by === 'model' ? 'model' : 'rule';
  return { ...answer, decided_by, not_applicable: false, evidence_absent: false, needs_review };
}

function toAnswer(question: Question, { label, evidence, explanation }: RuleOutcome): Answer {
  const choice = question.choices.find((each) => each.label === label) ?? null;
  return {
    uuid: question.uuid,
    text: question.text,
    weight: question.weight,
    answer: choice?.label ?? null,
    decided_by: 'rule',
    confidence: null,
    points: choice?.points ?? null,
    max_points: maxPoints(question),
    not_applicable: choice === null,
    evidence: [...evidence],
    evidence_absent: evidence.length === 0,
    needs_review: false,
    explanation,
  };
}
