import type { Evidence } from '@call-analysis/events';
import { CLAUSE_BREAK, SENTENCE_BREAK, type Words } from './matching/find-phrases.ts';

/** UTF-16 units. */
export const LONGEST_QUOTE = 240;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * The clause around the words `first` up to `end`, or as much of it as fits into a quote; it begins and ends with a
 * word, save for the mark that ends it, so no character is ever cut in two.
 */
export function clauseAround(text: string, words: Words, first: number, end: number): Span {
  return around(text, words, first, end, LONGEST_QUOTE, CLAUSE_BREAK);
}

/** Likewise the sentence, or as much of it as fits into `longest` units. */
export function sentenceAround(text: string, words: Words, first: number, end: number, longest: number): Span {
  return around(text, words, first, end, longest, SENTENCE_BREAK);
}

function around(text: string, words: Words, first: number, end: number, longest: number, edge: number): Span {
  const { starts, ends, breaks } = words;
  let from = first;
  let to = end - 1;
  const startOf = (at: number) => starts[at] ?? 0;
  const endOf = (at: number) => ends[at] ?? 0;
  while (to > from && endOf(to) - startOf(from) > longest) to -= 1;
  while (from > 0 && (breaks[from] ?? 0) < edge && endOf(to) - startOf(from - 1) <= longest) from -= 1;
  while (to + 1 < words.count && (breaks[to + 1] ?? 0) < edge && endOf(to + 1) - startOf(from) <= longest) to += 1;
  const start = startOf(from);
  // A single word can be longer than any quote.
  const last = Math.min(endOf(to), start + longest);
  const mark = text[last];
  const isMarked = (mark === '?' || mark === '.' || mark === '!') && last - start < longest;
  return { start, end: isMarked ? last + 1 : last };
}

export function evidenceOf(text: string, utterance: number, span: Span): Evidence {
  return { utterance, quote: text.slice(span.start, span.end), start_char: span.start, end_char: span.end };
}
