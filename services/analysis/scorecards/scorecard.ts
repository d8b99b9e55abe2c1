import {
  phrasesIn,
  type Question,
  type ScorecardBody,
  type ScorecardDraft,
  scorecardDraft,
} from '@call-analysis/events';
import { countVariantWords, foldWord, phraseFault } from './phrase-syntax.ts';

/** One revision of a scorecard. It never changes. */
export interface Scorecard extends ScorecardBody {
  readonly uuid: string;
  readonly revision: number;
}

/** The document that a firm sends, including the syntax of its phrases. */
export const draftSchema = scorecardDraft(phraseFault);

export function maxPoints(question: Pick<Question, 'choices'>): number {
  return Math.max(...question.choices.map((choice) => choice.points));
}

export function questionUuids({ sections }: Pick<ScorecardBody, 'sections'>): Set<string> {
  return new Set(sections.flatMap(({ questions }) => questions.map(({ uuid }) => uuid)));
}

/** The body of a revision: the draft with a uuid for every new question. */
export function toScorecardBody({ name, sections }: ScorecardDraft, newUuid: () => string): ScorecardBody {
  return {
    name,
    sections: sections.map((section) => ({
      name: section.name,
      questions: section.questions.map(({ uuid = newUuid(), ...question }) => ({ uuid, ...question })),
    })),
  };
}

/** Limits on the phrases of one scorecard. Within them, compiling the phrases takes milliseconds. */
const MAX_STEPS = 40_000;
const MAX_CELLS = 6_000_000;
/** The letters that the negations of a language add to those in the phrases. */
const NEGATION_LETTERS = 100;

/** The approximate size in bytes of the compiled phrases of a scorecard, in all languages together. */
export function compiledPhraseBytes(scorecard: ScorecardBody): number {
  const { steps, cells } = sizeOf(scorecard);
  // Each phrase is in the phrasebook of its language and in that of calls in an unknown language.
  return 2 * (cells * 2 + steps * 100);
}

/** Why the phrases take more than the limits allow, or null. */
export function sizeFault(draft: ScorecardDraft): string | null {
  const { steps, cells } = sizeOf(draft);
  if (steps > MAX_STEPS) return 'must have fewer phrases, or phrases with fewer alternatives';
  return cells > MAX_CELLS ? 'must have fewer or shorter phrases, or fewer different letters in them' : null;
}

/** The nodes and the letter transitions that the phrases add to a phrasebook. */
function sizeOf({ sections }: ScorecardDraft | ScorecardBody): { steps: number; cells: number } {
  const letters = new Set<string>();
  let characters = 0;
  let steps = 0;
  for (const phrase of phrasesIn(sections)) {
    characters += phrase.length;
    steps += countVariantWords(phrase);
    for (const letter of foldWord(phrase)) letters.add(letter);
  }
  return { steps, cells: characters * (letters.size + NEGATION_LETTERS) };
}
