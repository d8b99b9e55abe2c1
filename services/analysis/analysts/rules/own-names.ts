import { FOLD } from '../../scorecards/characters.ts';
import { foldWord } from '../../scorecards/phrase-syntax.ts';
import type { Conversation } from '../analyst.ts';
import { commonWords, phraseWords } from './concepts.ts';
import { SENTENCE_BREAK, type Words } from './matching/words.ts';

/** Shorter names only count as complete words, longer ones with any ending: `Тимуром`, `Sardorman`, `Азаматмын`. */
const LEAST_STEM = 4;
const LEAST_NAME = 3;

/** The names of operator and company that an introduction may contain: sequences of folded words. */
export interface OwnNames {
  readonly sequences: readonly (readonly string[])[];
  /** The first UTF-16 unit of each sequence. */
  readonly beginnings: ReadonlySet<number>;
}

const NO_NAMES: OwnNames = { sequences: [], beginnings: new Set() };

export function namesOf({ operatorName, firmName }: Pick<Conversation, 'operatorName' | 'firmName'>): OwnNames {
  if (!operatorName && !firmName) return NO_NAMES;
  const known = phraseWords();
  const names = [operatorName, firmName].filter((name) => typeof name === 'string');
  const sequences = names.flatMap((name) => sequencesOf(name, (word) => known.has(word)));
  return { sequences, beginnings: new Set(sequences.map(([word]) => word!.charCodeAt(0))) };
}

/**
 * Each word of a name that can only be the name, or else the whole name. `isOrdinary` says whether a folded word is a
 * word of everyday calls, such as "bank": alone it names no one.
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
export function findOwnName(text: string, words: Words, { sequences, beginnings }: OwnNames): number {
  if (sequences.length === 0) return -1;
  const isSpokenAt = (at: number, name: string): boolean => {
    if (at >= words.count) return false;
    const word = foldWord(text.slice(words.starts[at], words.ends[at]));
    return word === name || (name.length >= LEAST_STEM && word.startsWith(name));
  };
  for (let at = 0; at < words.count; at += 1) {
    if (!beginnings.has(FOLD[text.charCodeAt(words.starts[at] ?? 0)] ?? 0)) continue;
    if (sequences.some((sequence) => sequence.every((name, offset) => isSpokenAt(at + offset, name)))) return at;
  }
  return -1;
}

/**
 * Whether the word at `at` is a name with which the speaker is introduced by the phrase that begins at `phrase`: "this is Carol",
 * "Carol here". With `isApart`, a comma stands between the two: "Carol, I am listening".
 */
export function introducesName(text: string, words: Words, at: number, phrase: number, isApart: boolean): boolean {
  if (at < 0 || at >= words.count) return false;
  const isAfter = at > phrase;
  if (words.breaks[isAfter ? at : phrase] === SENTENCE_BREAK) return false;
  if (!isAfter && isApart !== (words.breaks[phrase] !== 0)) return false;
  const isFirst = at === 0 || words.breaks[at] === SENTENCE_BREAK;
  return isName(text, words, at, isFirst ? phraseWords() : commonWords());
}

/** The first word within a sentence, of those at the beginning of a text, that can only be a name, or -1. */
export function findAnyName(text: string, words: Words): number {
  for (let at = 1; at < Math.min(words.count, OPENING_WORDS); at += 1) {
    if (words.breaks[at] !== SENTENCE_BREAK && isName(text, words, at, phraseWords())) return at;
  }
  return -1;
}

/** Nobody introduces themselves later than that. */
const OPENING_WORDS = 50;
/** The letters on either side of a word that tell whether it is a name. */
const NEARBY = 200;

/** A name is known by its capital letter, so there is none among capital letters alone. */
function isName(text: string, words: Words, at: number, ordinary: ReadonlySet<string>): boolean {
  const [start = 0, end = 0] = [words.starts[at], words.ends[at]];
  const word = text.slice(start, end);
  if (!/^\p{Lu}\p{L}/u.test(word) || ordinary.has(foldWord(word))) return false;
  const after = text.slice(end, end + NEARBY);
  if (!/\p{Ll}/u.test(text.slice(Math.max(0, start - NEARBY), end) + after)) return false;
  // "Это Анна?" asks who the other person is.
  return !/^[^,;.!…—–]*\?/u.test(after);
}
