import { Lexicon } from '@call-analysis/events';
import type { Topic } from '../topics.ts';

export const LEXICON_NAMES = Lexicon.options;

/** Phrases that count for the summary and the metrics, and those that say what other phrases do not mean. */
export const CUE_NAMES = ['problem', 'question', 'question_end', 'hold', 'serving', 'reports', 'reported'] as const;
export type CueName = (typeof CUE_NAMES)[number];

/** The phrases of one language, separated by semicolons. Their syntax is described in ../matching/phrase-syntax.ts. */
export interface LanguagePhrases {
  readonly lexicons: Readonly<Record<Lexicon, string>>;
  /**
   * `question` begins a question and `question_end` ends one, for questions without a question mark. What follows `reports`
   * in its sentence is someone else's speech, as in "he said", and so is what precedes `reported`. After `hold`, "is that
   * all right?" asks for patience. Only the company's side says `serving`.
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
