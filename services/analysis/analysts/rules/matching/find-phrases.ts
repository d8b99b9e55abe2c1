import { GAP_WORDS } from '../../../scorecards/phrase-syntax.ts';
import { nextNode, type Phrasebook } from './phrasebook.ts';
import { SENTENCE_BREAK, type Words } from './words.ts';

/** Receives one match: its concept and its words, from `first` up to `end` (exclusive). */
type OnMatch = (concept: number, first: number, end: number) => void;

/** The number of steps that searches may still take. Below 0, a search stopped early and its matches are incomplete. */
export interface SearchBudget {
  steps: number;
}

const UNLIMITED: SearchBudget = { steps: Infinity };
const NO_SYMBOLS = new Int32Array(0);

/**
 * Finds every phrase of the book in the words that were read with it, in the order of their first word, and leaves out
 * the matches that an exception covers. The work per word is bounded by the size of the book. Thousands of phrases with
 * the same beginning can make that a lot, so a firm's phrases are searched with a limited budget.
 */
export function findPhrases(words: Words, book: Phrasebook, onMatch: OnMatch, budget: SearchBudget = UNLIMITED): void {
  const { begins, ends, endings } = book;
  const { sets, count } = words;
  /** The end of the longest exception so far, by concept. */
  const exceptionEnds = new Map<number, number>();
  /** Pairs of a concept or exception and the end of its words. */
  const found: number[] = [];

  const follow = (node: number, at: number): void => {
    if (at >= count || (words.breaks[at] === SENTENCE_BREAK && node !== 0)) return;
    const symbols = book.sets[sets[at] ?? 0] ?? NO_SYMBOLS;
    budget.steps -= 1 + symbols.length;
    if (budget.steps < 0) return;
    for (const symbol of symbols) {
      const next = nextNode(book, node, symbol);
      if (next === undefined) continue;
      const ended = endings[ends[next] ?? 0] ?? [];
      budget.steps -= ended.length;
      for (const concept of ended) found.push(concept, at + 1);
      follow(next, at + 1);
      const afterGap = book.gaps[next] ?? 0;
      if (afterGap !== 0) followGap(afterGap, at + 1);
    }
  };
  const followGap = (afterGap: number, from: number): void => {
    for (let at = from; at <= from + GAP_WORDS && at < count; at += 1) {
      if (words.breaks[at] === SENTENCE_BREAK) return;
      follow(afterGap, at);
      if ((book.negates[sets[at] ?? 0] ?? 0) !== 0) return;
    }
  };

  for (let first = 0; first < count && budget.steps >= 0; first += 1) {
    if (begins[sets[first] ?? 0] === 0) continue;
    follow(0, first);
    if (found.length === 0) continue;
    for (let index = 0; index < found.length; index += 2) {
      const concept = found[index] ?? 0;
      const end = found[index + 1] ?? 0;
      if (concept < 0) exceptionEnds.set(-1 - concept, Math.max(end, exceptionEnds.get(-1 - concept) ?? 0));
    }
    for (let index = 0; index < found.length; index += 2) {
      const concept = found[index] ?? 0;
      const end = found[index + 1] ?? 0;
      if (concept >= 0 && (exceptionEnds.get(concept) ?? 0) < end) onMatch(concept, first, end);
    }
    found.length = 0;
  }
}
