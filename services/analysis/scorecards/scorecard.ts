import {
  phrasesIn,
  type Question,
  type ScorecardBody,
  type ScorecardDraft,
  scorecardDraft,
} from '@call-analysis/events';
import { foldWord, phraseFault, phraseSteps } from '../rules/matching/phrasebook.ts';

/** One revision; it never changes. */
export interface Scorecard extends ScorecardBody {
  readonly uuid: string;
  readonly revision: number;
}

/** What a firm sends, with its phrases looked at too. */
export const Draft = scorecardDraft(phraseFault);

export function maxPoints(question: Pick<Question, 'choices'>): number {
  return Math.max(...question.choices.map((choice) => choice.points));
}

export function questionUuids({ sections }: ScorecardBody): Set<string> {
  return new Set(sections.flatMap(({ questions }) => questions.map(({ uuid }) => uuid)));
}

/** What a draft says, with a uuid for every question that is new. */
export function numbered({ name, sections }: ScorecardDraft, newUuid: () => string): ScorecardBody {
  return {
    name,
    sections: sections.map((section) => ({
      name: section.name,
      questions: section.questions.map(({ uuid = newUuid(), ...question }) => ({ uuid, ...question })),
    })),
  };
}

/** Bounds of what the phrases of one scorecard take, so that compiling them is a matter of milliseconds. */
const MAX_STEPS = 40_000;
const MAX_CELLS = 6_000_000;
/** Letters of the negations that every language adds. */
const OTHER_LETTERS = 100;

/** Bytes, about, that the compiled phrases of a scorecard take in all languages together. */
export function phraseBytes(scorecard: ScorecardBody): number {
  const { steps, cells } = sizeOf(scorecard);
  // Each phrase stands in the phrasebook of its language and in the one for calls of an unknown language.
  return 2 * (cells * 2 + steps * 100);
}

/** Why the phrases are more than can be listened for, or null. */
export function sizeFault(draft: ScorecardDraft): string | null {
  const { steps, cells } = sizeOf(draft);
  if (steps > MAX_STEPS) return 'must have fewer phrases, or phrases with fewer alternatives';
  return cells > MAX_CELLS ? 'must have fewer or shorter phrases, or fewer different letters in them' : null;
}

function sizeOf({ sections }: ScorecardDraft | ScorecardBody): { steps: number; cells: number } {
  const letters = new Set<string>();
  let characters = 0;
  let steps = 0;
  for (const phrase of phrasesIn(sections)) {
    characters += phrase.length;
    steps += phraseSteps(phrase);
    for (const letter of foldWord(phrase)) letters.add(letter);
  }
  return { steps, cells: characters * (letters.size + OTHER_LETTERS) };
}
