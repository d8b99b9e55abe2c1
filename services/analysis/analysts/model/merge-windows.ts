import type { Question } from '@call-analysis/events';
import type { CheckedAnswer } from './check-answers.ts';
import { labelWithoutQuote } from './prompt.ts';
import type { RawReply } from './read-reply.ts';

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
