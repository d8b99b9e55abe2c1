import type { Question } from '@call-analysis/events';
import type { CheckedAnswer } from './check-answers.ts';
import { labelWithoutQuote } from './prompt.ts';
import type { RawReply } from './read-reply.ts';
import type { SentUtterance } from './sent-conversation.ts';

/** The share of a window that repeats the end of the one before, so that an answer is not cut in two. */
const OVERLAP = 0.1;
/** The number, the role, quotes and the line end of an utterance. */
const TOKENS_PER_LINE = 6;

export function tokensOf(utterances: readonly SentUtterance[]): number {
  return utterances.reduce((sum, { text }) => sum + TOKENS_PER_LINE + estimateTokens(text), 0);
}

/**
 * Cuts a conversation at utterances into windows of at most `budget` tokens, as estimated. Each begins with the last
 * utterances of the one before. An utterance that is longer than half a window is cut at a space.
 */
export function cutWindows(utterances: readonly SentUtterance[], budget: number): SentUtterance[][] {
  if (tokensOf(utterances) <= budget) return [[...utterances]];
  const pieces = utterances.flatMap((utterance) => cutUtterance(utterance, Math.max(20, Math.floor(budget / 2))));
  const sizes = pieces.map(({ text }) => TOKENS_PER_LINE + estimateTokens(text));
  const windows: SentUtterance[][] = [];
  let start = 0;
  while (start < pieces.length) {
    let end = start;
    let size = 0;
    while (end < pieces.length && (end === start || size + sizes[end]! <= budget)) {
      size += sizes[end]!;
      end += 1;
    }
    windows.push(pieces.slice(start, end));
    if (end === pieces.length) break;
    let next = end;
    let repeated = 0;
    // Each window begins at least one utterance after the one before.
    while (next - 1 > start && repeated + sizes[next - 1]! <= budget * OVERLAP) {
      next -= 1;
      repeated += sizes[next]!;
    }
    start = next;
  }
  return windows;
}

function cutUtterance(utterance: SentUtterance, budget: number): SentUtterance[] {
  const { text } = utterance;
  const total = estimateTokens(text);
  if (total <= budget) return [utterance];
  const length = Math.max(1, Math.floor((text.length * budget) / total));
  const pieces: SentUtterance[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + length);
    if (to < text.length) {
      const space = text.lastIndexOf(' ', to);
      if (space > from + length / 2) to = space;
      // Never between the halves of a character.
      else if (/[\udc00-\udfff]/.test(text[to] ?? '')) to += 1;
    }
    pieces.push(utterance.piece(from, to));
    from = to;
  }
  return pieces;
}

const MAX_QUOTES = 3;

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

/** Tokens per UTF-16 unit, as usual tokenizers have them: on the high side, so that a request fits. */
const PER_ASCII = 0.3;
const PER_OTHER = 0.5;

/** About how many tokens a text has. A tokenizer would know one model only. */
export function estimateTokens(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) others += 1;
  return Math.ceil((text.length - others) * PER_ASCII + others * PER_OTHER);
}
