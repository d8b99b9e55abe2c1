import type { Lexicon } from '@call-analysis/events';
import type { Topic } from '../topics.ts';

/**
 * The lexicons that have phrases. Those of the others were right no more often than the commonest answer, so a question that listens
 * for one stays open.
 */
export const LEXICON_NAMES = [
  'greeting',
  'introduction',
  'unhappy',
  'empathy',
  'understanding',
  'next_step',
  'further_help',
  'farewell',
  'abuse',
  'rudeness',
] as const satisfies readonly Lexicon[];
export type LexiconName = (typeof LEXICON_NAMES)[number];

export function hasPhrases(lexicon: Lexicon): lexicon is LexiconName {
  return LEXICON_NAMES.some((name) => name === lexicon);
}

/** Phrases that count for the summary and the metrics, and those that say what other phrases do not mean. */
export const CUE_NAMES = [
  'problem',
  'question',
  'question_end',
  'hold',
  'serving',
  'reports',
  'reported',
  'then_name',
  'name_then',
  'name_apart',
] as const;
export type CueName = (typeof CUE_NAMES)[number];

/** The phrases of one language, separated by semicolons. Their syntax is described in ../matching/phrase-syntax.ts. */
export interface LanguagePhrases {
  readonly lexicons: Readonly<Record<LexiconName, string>>;
  /**
   * `question` begins a question and `question_end` ends one, for questions without a question mark. What follows `reports`
   * in its sentence is someone else's speech, as in "he said", and so is what precedes `reported`. After `hold`, "is that
   * all right?" asks for patience. Only the company's side says `serving`. A name after `then_name` or before `name_then` is the
   * speaker's own, and so is one before `name_apart` from which a comma separates it.
   */
  readonly cues: Readonly<Record<CueName, string>>;
  readonly topics: Readonly<Record<Topic, string>>;
  readonly negations: { readonly before: string; readonly after: string };
}

/** Splits a list of phrases. A line break may follow a semicolon, a space or a `|`. */
export function splitPhrases(list: string): string[] {
  return list
    .replace(/\|\s+/gu, '|')
    .split(';')
    .map((phrase) => phrase.trim().replace(/\s+/gu, ' '))
    .filter((phrase) => phrase !== '');
}
