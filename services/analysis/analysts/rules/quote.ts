import type { Evidence } from '@call-analysis/events';
import { CLAUSE_BREAK, SENTENCE_BREAK, type Words } from './matching/words.ts';

/** In UTF-16 units. */
export const MAX_QUOTE_LENGTH = 240;

/** A range of UTF-16 offsets. The end is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The clause around the words from `first` up to `end` (exclusive), or as much of it as fits into a quote. It begins with
 * a word and ends with a word or the mark after that word, so that no character is split.
 */
export function clauseAround(text: string, words: Words, first: number, end: number): Span {
  return around(text, words, first, end, MAX_QUOTE_LENGTH, CLAUSE_BREAK);
}

/** Like `clauseAround` for the sentence, in at most `maxLength` UTF-16 units. */
export function sentenceAround(text: string, words: Words, first: number, end: number, maxLength: number): Span {
  return around(text, words, first, end, maxLength, SENTENCE_BREAK);
}

function around(text: string, words: Words, first: number, end: number, maxLength: number, edge: number): Span {
  const { starts, ends, breaks } = words;
  let from = first;
  let to = end - 1;
  const startOf = (word: number) => starts[word] ?? 0;
  const endOf = (word: number) => ends[word] ?? 0;
  while (to > from && endOf(to) - startOf(from) > maxLength) to -= 1;
  while (from > 0 && (breaks[from] ?? 0) < edge && endOf(to) - startOf(from - 1) <= maxLength) from -= 1;
  while (to + 1 < words.count && (breaks[to + 1] ?? 0) < edge && endOf(to + 1) - startOf(from) <= maxLength) to += 1;
  const start = startOf(from);
  // A single word can be longer than a quote.
  const last = Math.min(endOf(to), start + maxLength);
  const mark = text[last];
  const isMarked = (mark === '?' || mark === '.' || mark === '!') && last - start < maxLength;
  return { start, end: isMarked ? last + 1 : last };
}

export function toEvidence(text: string, utterance: number, span: Span): Evidence {
  return { utterance, quote: text.slice(span.start, span.end), start_char: span.start, end_char: span.end };
}
