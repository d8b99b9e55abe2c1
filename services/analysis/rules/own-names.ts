import type { Conversation } from '../analysts/analyst.ts';
import { phraseWords } from './concepts.ts';
import { foldWord } from './matching/phrase-syntax.ts';
import type { Words } from './matching/words.ts';

/** Shorter names only count as complete words, longer ones with any ending: `Тимуром`, `Sardorman`, `Азаматмын`. */
const LEAST_STEM = 4;

/** The names by which the operator may introduce the operator or the company. */
export interface OwnNames {
  /** Folded words, of which each counts by itself. */
  readonly words: readonly string[];
}

/**
 * The words of the operator's and the company's name that can only be the name. `isKnown` says whether a folded word is an
 * ordinary word, such as "bank": it names no one.
 */
export function ownNames(names: readonly (string | null | undefined)[], isKnown: (word: string) => boolean): OwnNames {
  const words = names.flatMap((name) => (name ?? '').match(/[\p{L}\p{M}\p{N}'’ʻʼ‘]+/gu) ?? []).map(foldWord);
  return { words: [...new Set(words)].filter((word) => word.length > 1 && !word.includes(' ') && !isKnown(word)) };
}

const NO_NAMES: OwnNames = { words: [] };

export function namesOf({ operatorName, firmName }: Pick<Conversation, 'operatorName' | 'firmName'>): OwnNames {
  if (!operatorName && !firmName) return NO_NAMES;
  const known = phraseWords();
  return ownNames([operatorName, firmName], (word) => known.has(word));
}

/** The first of the words that were read that is one of the names, or -1. */
export function findOwnName(text: string, words: Words, { words: names }: OwnNames): number {
  for (let at = 0; at < words.count; at += 1) {
    const word = foldWord(text.slice(words.starts[at], words.ends[at]));
    if (names.some((name) => word === name || (name.length >= LEAST_STEM && word.startsWith(name)))) return at;
  }
  return -1;
}
