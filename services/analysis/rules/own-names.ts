import type { Conversation } from '../analysts/analyst.ts';
import { phraseWords } from './concepts.ts';
import { foldWord } from './matching/phrase-syntax.ts';
import type { Words } from './matching/words.ts';

/** Shorter names only count as complete words, longer ones with any ending: `Тимуром`, `Sardorman`, `Азаматмын`. */
const LEAST_STEM = 4;
const LEAST_NAME = 3;

/** The names by which the operator may introduce the operator or the company: sequences of folded words. */
export interface OwnNames {
  readonly sequences: readonly (readonly string[])[];
}

const NO_NAMES: OwnNames = { sequences: [] };

export function namesOf({ operatorName, firmName }: Pick<Conversation, 'operatorName' | 'firmName'>): OwnNames {
  if (!operatorName && !firmName) return NO_NAMES;
  const known = phraseWords();
  const names = [operatorName, firmName].filter((name) => typeof name === 'string');
  return { sequences: names.flatMap((name) => sequencesOf(name, (word) => known.has(word))) };
}

/**
 * Each word of a name that can only be the name, or else the whole name. `isOrdinary` says whether a folded word is a word
 * of everyday calls, such as "bank": alone it names no one.
 */
function sequencesOf(name: string, isOrdinary: (word: string) => boolean): string[][] {
  const words = name.match(/[\p{L}\p{M}\p{N}'’ʻʼ‘]+/gu) ?? [];
  const capitalized = words.filter((word) => /^\p{Lu}/u.test(word));
  const folded = (capitalized.length === 0 ? words : capitalized).map(foldWord).filter((word) => word !== '');
  const distinctive = folded.filter((word) => word.length >= LEAST_NAME && !isOrdinary(word));
  if (distinctive.length > 0) return distinctive.map((word) => [word]);
  return folded.length > 1 ? [folded] : [];
}

/** The first of the words that were read at which one of the names stands, or -1. */
export function findOwnName(text: string, words: Words, { sequences }: OwnNames): number {
  if (sequences.length === 0) return -1;
  const spoken = Array.from({ length: words.count }, (_, at) => foldWord(text.slice(words.starts[at], words.ends[at])));
  return spoken.findIndex((_, at) =>
    sequences.some((sequence) =>
      sequence.every((name, offset) => {
        const word = spoken[at + offset];
        return word === name || (name.length >= LEAST_STEM && word?.startsWith(name) === true);
      }),
    ),
  );
}
