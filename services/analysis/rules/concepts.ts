import type { Language } from '@call-analysis/events';
import { compilePhrasebook, type Concept, type Phrasebook } from './matching/phrasebook.ts';
import { en } from './phrases/en.ts';
import { es } from './phrases/es.ts';
import { ky } from './phrases/ky.ts';
import { CUE_NAMES, type Knowledge, LEXICON_NAMES, phrasesOf } from './phrases/language-phrases.ts';
import { ru } from './phrases/ru.ts';
import { uz } from './phrases/uz.ts';
import { inCyrillic } from './phrases/uzbek-cyrillic.ts';
import { TOPICS } from './topics.ts';

/** Numbers of the concepts in every phrasebook of ours: lexicons, then cues, then topics. */
export const LEXICON_ID = numbered(LEXICON_NAMES, 0);
export const CUE_ID = numbered(CUE_NAMES, LEXICON_NAMES.length);
export const FIRST_TOPIC = LEXICON_NAMES.length + CUE_NAMES.length;
export const CONCEPTS = FIRST_TOPIC + TOPICS.length;

function numbered<Name extends string>(names: readonly Name[], first: number): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, index) => [name, first + index])) as Record<Name, number>;
}

interface Source {
  readonly knowledge: Knowledge;
  readonly write: (phrase: string) => string;
}

const asWritten = (phrase: string) => phrase;
const ENGLISH: Source = { knowledge: en, write: asWritten };
const RUSSIAN: Source = { knowledge: ru, write: asWritten };
const SPANISH: Source = { knowledge: es, write: asWritten };
const KYRGYZ: Source = { knowledge: ky, write: asWritten };
const UZBEK: readonly Source[] = [
  { knowledge: uz, write: asWritten },
  { knowledge: uz, write: inCyrillic },
];

/** Uzbek and Kyrgyz conversations are full of Russian; where the language is unknown every one is listened for. */
const SOURCES: Readonly<Record<Language | 'unknown', readonly Source[]>> = {
  en: [ENGLISH],
  ru: [RUSSIAN],
  es: [SPANISH],
  uz: [...UZBEK, RUSSIAN],
  ky: [KYRGYZ, RUSSIAN],
  unknown: [ENGLISH, RUSSIAN, SPANISH, KYRGYZ, ...UZBEK],
};

const compiled = new Map<Language | null, Phrasebook>();

/** Everything that we listen for in a language; compiled on first use, some tens of milliseconds. */
export function phrasebookOf(language: Language | null): Phrasebook {
  const known = compiled.get(language);
  if (known !== undefined) return known;
  const sources = SOURCES[language ?? 'unknown'];
  const phrases: string[][] = Array.from({ length: CONCEPTS }, () => []);
  const add = (id: number, written: string, write: Source['write']) => {
    phrases[id]?.push(...phrasesOf(written).map(write));
  };
  for (const { knowledge, write } of sources) {
    for (const name of LEXICON_NAMES) add(LEXICON_ID[name], knowledge.lexicons[name], write);
    for (const name of CUE_NAMES) add(CUE_ID[name], knowledge.cues[name], write);
    TOPICS.forEach((topic, index) => add(FIRST_TOPIC + index, knowledge.topics[topic], write));
  }
  const concepts: Concept[] = phrases.map((list, id) => ({ id, phrases: list }));
  const book = compilePhrasebook(concepts, negationsOf(sources));
  compiled.set(language, book);
  return book;
}

/** A phrasebook of a firm's own phrases, with the negations of the language. */
export function ownPhrasebook(language: Language | null, concepts: readonly Concept[]): Phrasebook {
  return compilePhrasebook(concepts, negationsOf(SOURCES[language ?? 'unknown']));
}

function negationsOf(sources: readonly Source[]): { before: string[]; after: string[] } {
  return {
    before: sources.flatMap(({ knowledge, write }) => phrasesOf(knowledge.negations.before).map(write)),
    after: sources.flatMap(({ knowledge, write }) => phrasesOf(knowledge.negations.after).map(write)),
  };
}
