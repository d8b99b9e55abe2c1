import { estimateTokens } from './estimate-tokens.ts';
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
