import type { Evidence, Manipulation, Question, Utterance } from '@call-analysis/events';
import { toEvidence } from '../rules/quote.ts';
import { findQuote } from './find-quote.ts';
import { type AskedQuestions, labelWithoutQuote } from './prompt.ts';
import type { RawAnswer, RawReply } from './read-reply.ts';
import type { SentUtterance } from './sent-conversation.ts';

const MAX_QUOTES = 3;

/** An answer of a model whose label belongs to the question and whose quotes were found in the transcript. */
export interface CheckedAnswer {
  /** Null: the question does not apply. */
  readonly label: string | null;
  readonly confidence: number | null;
  readonly evidence: readonly Evidence[];
  readonly explanation: string;
  /** A quote was dropped, because the role did not say it. */
  readonly hasLostQuote: boolean;
  /** The answer needs a quote and has none. */
  readonly isUnproved: boolean;
}

/** The facts that an answer is checked against. */
export interface Source {
  /** As they are stored. */
  readonly utterances: readonly Utterance[];
  /** As the model got them. */
  readonly sent: readonly SentUtterance[];
}

/**
 * Checks the answers to these questions, which name them by their short id or their uuid. Answers to other questions and with unknown labels are left out; the first
 * counts.
 */
export function checkAnswers(
  answers: readonly RawAnswer[],
  questions: AskedQuestions,
  source: Source,
): Map<string, CheckedAnswer> {
  const named = new Map([
    ...questions,
    ...[...questions.values()].map((each) => [each.uuid.toLowerCase(), each] as const),
  ]);
  const checked = new Map<string, CheckedAnswer>();
  for (const answer of answers) {
    const question = named.get(answer.question_uuid.trim().toLowerCase());
    if (question === undefined || checked.has(question.uuid)) continue;
    const label = labelOf(question, answer.answer);
    if (label !== undefined) checked.set(question.uuid, checkAnswer(question, label, answer, source));
  }
  return checked;
}

/** The reported attempt to command the assessment; null when there is none, or when nobody said the quoted words. */
export function checkManipulation(reported: RawReply['manipulation'], source: Source): Manipulation | null {
  if (reported === null || reported.quote.trim() === '') return null;
  const found = proveQuote(reported.utterance, reported.quote.toWellFormed(), 'any', source);
  return found && { utterance: found.utterance, quote: found.quote };
}

/** Undefined for a label that the question does not have. */
function labelOf({ choices }: Question, answer: string | null): string | null | undefined {
  if (answer === null) return null;
  const wanted = answer.trim().toLowerCase();
  return choices.find(({ label }) => label.toLowerCase() === wanted)?.label;
}

function checkAnswer(question: Question, label: string | null, answer: RawAnswer, source: Source): CheckedAnswer {
  const role = question.decided.by === 'model' ? question.decided.role : 'operator';
  const evidence: Evidence[] = [];
  let hasLostQuote = false;
  for (const quoted of answer.quotes) {
    if (quoted === null || quoted.quote.trim() === '') continue;
    if (evidence.length === MAX_QUOTES) break;
    const found = proveQuote(quoted.utterance, quoted.quote.toWellFormed(), role, source);
    if (found === null) hasLostQuote = true;
    else if (!evidence.some((each) => isSame(each, found))) evidence.push(found);
  }
  const needsQuote = label !== null && label !== labelWithoutQuote(question);
  return {
    label,
    confidence: answer.confidence,
    evidence,
    explanation: answer.explanation,
    hasLostQuote,
    isUnproved: needsQuote && evidence.length === 0,
  };
}

function isSame(one: Evidence, other: Evidence): boolean {
  return one.utterance === other.utterance && one.start_char < other.end_char && other.start_char < one.end_char;
}

/**
 * The quote as evidence, from the utterance that the model names. Models miscount: a quote that occurs word for word in
 * another utterance of the role counts too, the nearest first.
 */
function proveQuote(
  named: number,
  quote: string,
  role: 'operator' | 'client' | 'any',
  { utterances, sent }: Source,
): Evidence | null {
  const mayQuote = ({ role: speaker }: SentUtterance) => role === 'any' || speaker === role;
  const there = sent.filter((utterance) => utterance.index === named && mayQuote(utterance));
  for (const utterance of there) {
    const evidence = evidenceIn(utterance, quote, false, utterances);
    if (evidence !== null) return evidence;
  }
  const others = sent
    .filter((utterance) => utterance.index !== named && mayQuote(utterance))
    .sort((one, other) => Math.abs(one.index - named) - Math.abs(other.index - named));
  for (const utterance of others) {
    const evidence = evidenceIn(utterance, quote, true, utterances);
    if (evidence !== null) return evidence;
  }
  return null;
}

function evidenceIn(
  utterance: SentUtterance,
  quote: string,
  isStrict: boolean,
  utterances: readonly Utterance[],
): Evidence | null {
  const found = findQuote(utterance.folded, quote, isStrict);
  const original = utterances[utterance.index];
  if (found === null || original === undefined) return null;
  return toEvidence(original.text, utterance.index, utterance.original(found));
}

export interface MergedAnswer extends CheckedAnswer {
  /** Windows gave different answers that each say that something happened. */
  readonly isDisputed: boolean;
}

/**
 * One answer out of those of the windows of a long call:
 *
 * 1. An answer without the quote that it needs counts only when no window has a better one.
 * 2. "Does not apply" yields to every answer, and "nothing of the kind" to every answer that something happened.
 * 3. An answer that fails the call wins over others; then the surer one; then the later one.
 * 4. The quotes of the windows that agree with it are joined. Disagreement is for a person to review.
 */
export function mergeAnswers(question: Question, answers: readonly CheckedAnswer[]): MergedAnswer | null {
  const nothing = labelWithoutQuote(question);
  const fails = (label: string | null) => question.choices.some((choice) => choice.label === label && choice.auto_fail);
  const rank = ({ label, isUnproved }: CheckedAnswer) => {
    if (isUnproved) return label === null ? 0 : 1;
    if (label === null) return 0;
    if (label === nothing) return 2;
    return fails(label) ? 4 : 3;
  };
  let best: CheckedAnswer | null = null;
  for (const answer of answers) {
    const difference = best === null ? 1 : rank(answer) - rank(best);
    const isSurer = best !== null && (answer.confidence ?? 0) >= (best.confidence ?? 0);
    if (difference > 0 || (difference === 0 && isSurer)) best = answer;
  }
  if (best === null) return null;
  const chosen = best;
  const agreeing = answers.filter(({ label }) => label === chosen.label);
  const evidence = [
    ...new Map(agreeing.flatMap((each) => each.evidence).map((each) => [JSON.stringify(each), each])).values(),
  ];
  return {
    ...chosen,
    evidence: evidence.slice(0, MAX_QUOTES),
    hasLostQuote: agreeing.some((each) => each.hasLostQuote),
    isDisputed: answers.some((each) => rank(each) >= 3 && each.label !== chosen.label),
  };
}

/** Joins what the windows of a long call say about all of it. */
export function mergeReplies(replies: readonly RawReply[]): Omit<RawReply, 'answers' | 'manipulation'> {
  const [first] = replies;
  if (replies.length === 1 && first !== undefined) return first;
  const topics = Map.groupBy(
    replies.flatMap((reply) => reply.topics),
    (topic) => topic,
  );
  const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null);
  const feelings = (value: (role: 'operator' | 'client') => number | null) => ({
    operator: value('operator'),
    client: value('client'),
  });
  return {
    summary: replies
      .map(({ summary }) => summary.trim())
      .filter((summary) => summary !== '')
      .join('\n'),
    // The reason is given at the beginning of a call, and how it was resolved shows at the end.
    reason: replies.find(({ reason }) => reason !== null)?.reason ?? null,
    resolution: replies.findLast(({ resolution }) => resolution !== null)?.resolution ?? null,
    topics: [...topics]
      .sort(([, one], [, other]) => other.length - one.length)
      .slice(0, 5)
      .map(([topic]) => topic),
    sentiment: {
      ...feelings((role) => mean(known(replies.map(({ sentiment }) => sentiment[role])))),
      start: feelings((role) => known(replies.map(({ sentiment }) => sentiment.start[role])).at(0) ?? null),
      end: feelings((role) => known(replies.map(({ sentiment }) => sentiment.end[role])).at(-1) ?? null),
    },
  };
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
