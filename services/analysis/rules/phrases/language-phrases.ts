import { Lexicon } from '@call-analysis/events';
import type { Topic } from '../topics.ts';

export const LEXICON_NAMES = Lexicon.options;

/** Heard for sentiment, summary and metrics. */
export const CUE_NAMES = ['positive', 'negative', 'problem', 'question', 'question_end'] as const;
export type CueName = (typeof CUE_NAMES)[number];

/** Phrases of one language, written as phrasebook.ts says and parted by semicolons; a line may end behind a `|`. */
export interface Knowledge {
  readonly lexicons: Readonly<Record<Lexicon, string>>;
  /** `question` opens a question, `question_end` closes one, where no punctuation says so. */
  readonly cues: Readonly<Record<CueName, string>>;
  readonly topics: Readonly<Record<Topic, string>>;
  readonly negations: { readonly before: string; readonly after: string };
}

export function phrasesOf(written: string): string[] {
  return written
    .replace(/\|\s+/gu, '|')
    .split(';')
    .map((phrase) => phrase.trim().replace(/\s+/gu, ' '))
    .filter((phrase) => phrase !== '');
}
