import { Lexicon } from '@call-analysis/events';
import type { Topic } from '../topics.ts';

export const LEXICON_NAMES = Lexicon.options;

/** Phrases that count for sentiment, the summary and the metrics. */
export const CUE_NAMES = ['positive', 'negative', 'problem', 'question', 'question_end'] as const;
export type CueName = (typeof CUE_NAMES)[number];

/** The phrases of one language, separated by semicolons. Their syntax is described in ../matching/phrase-syntax.ts. */
export interface LanguagePhrases {
  readonly lexicons: Readonly<Record<Lexicon, string>>;
  /** `question` begins a question and `question_end` ends one, for questions without a question mark. */
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
