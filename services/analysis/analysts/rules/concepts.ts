import type { Language } from '@call-analysis/events';
import { foldWord } from '../../scorecards/phrase-syntax.ts';
import { compilePhrasebook, type Concept, type Negations, type Phrasebook } from './matching/phrasebook.ts';
import { en } from './phrases/en.ts';
import { es } from './phrases/es.ts';
import { everydayWords } from './phrases/everyday-words.ts';
import { ky } from './phrases/ky.ts';
import {
  CUE_NAMES,
  type LanguagePhrases,
  LEXICON_NAMES,
  type LexiconName,
  splitPhrases,
} from './phrases/language-phrases.ts';
import { ru } from './phrases/ru.ts';
import { uz } from './phrases/uz.ts';
import { toCyrillic } from './phrases/uzbek-cyrillic.ts';
import { TOPICS } from './topics.ts';

// The ids of concepts are the same in every built-in phrasebook: lexicons, then cues, then topics.
export const LEXICON_ID = numbered(LEXICON_NAMES, 0);
export const CUE_ID = numbered(CUE_NAMES, LEXICON_NAMES.length);
export const FIRST_TOPIC_ID = LEXICON_NAMES.length + CUE_NAMES.length;
/** The ids from here on are free for the concepts of a firm. */
export const CONCEPT_COUNT = FIRST_TOPIC_ID + TOPICS.length;

/** Words addressed to the other person. Reported speech does not count: "he told me to shut up" insults no one. */
const TO_SOMEONE: readonly LexiconName[] = [
  'greeting',
  'introduction',
  'empathy',
  'understanding',
  'further_help',
  'farewell',
  'abuse',
  'rudeness',
];
const OWN_WORDS_ONLY = new Set(TO_SOMEONE.map((name) => LEXICON_ID[name]));

/** Whether a concept counts only in the speaker's own words. Agreements count in reported speech too. */
export function isOwnWordsOnly(concept: number): boolean {
  return OWN_WORDS_ONLY.has(concept);
}

/** The words of all built-in phrases and the most common ones of every language, folded. */
export function phraseWords(): ReadonlySet<string> {
  return (knownWords ??= collectPhraseWords());
}

let knownWords: ReadonlySet<string> | null = null;

/** The most common short words of all languages, folded. */
export function commonWords(): ReadonlySet<string> {
  return (knownCommonWords ??= new Set(
    Object.values(everydayWords).flatMap((list) => list.trim().split(/\s+/u).map(foldWord)),
  ));
}

let knownCommonWords: ReadonlySet<string> | null = null;

function collectPhraseWords(): ReadonlySet<string> {
  const found = new Set<string>(commonWords());
  for (const { phrases, write } of SOURCES.unknown) {
    for (const group of [phrases.lexicons, phrases.cues, phrases.topics]) {
      for (const list of Object.values(group)) {
        for (const word of write(list).split(/[\s()[\]|!.#;*]+/u)) found.add(foldWord(word));
      }
    }
  }
  return found;
}

function numbered<Name extends string>(names: readonly Name[], first: number): Readonly<Record<Name, number>> {
  return Object.fromEntries(names.map((name, index) => [name, first + index])) as Record<Name, number>;
}

/** The phrases of a language and the script in which to write them. */
interface Source {
  readonly phrases: LanguagePhrases;
  readonly write: (phrase: string) => string;
}

/** The built-in phrases of each language; those of Uzbek are in Latin script. */
export const PHRASES: Readonly<Record<Language, LanguagePhrases>> = { en, ru, uz, ky, es };

const asWritten = (phrase: string) => phrase;
const ENGLISH: Source = { phrases: en, write: asWritten };
const RUSSIAN: Source = { phrases: ru, write: asWritten };
const SPANISH: Source = { phrases: es, write: asWritten };
const KYRGYZ: Source = { phrases: ky, write: asWritten };
const UZBEK: readonly Source[] = [
  { phrases: uz, write: asWritten },
  { phrases: uz, write: toCyrillic },
];

/**
 * Uzbek and Kyrgyz conversations contain a lot of Russian. A conversation in an unknown language is searched for the
 * phrases of every language.
 */
const SOURCES: Readonly<Record<Language | 'unknown', readonly Source[]>> = {
  en: [ENGLISH],
  ru: [RUSSIAN],
  es: [SPANISH],
  uz: [...UZBEK, RUSSIAN],
  ky: [KYRGYZ, RUSSIAN],
  unknown: [ENGLISH, RUSSIAN, SPANISH, KYRGYZ, ...UZBEK],
};

type Books = Partial<Record<Language | 'unknown', Phrasebook>>;
const compiled: Books = {};
const compiledSides: Books = {};

/** Phrases that only one side of a call says. Few calls are searched for them, so they have their own phrasebook. */
const SIDES: readonly number[] = [CUE_ID.serving, CUE_ID.problem, LEXICON_ID.unhappy];

/** The built-in phrases of a language. The first call for a language compiles them, which takes 30 to 150 ms. */
export function builtInPhrasebook(language: Language | null): Phrasebook {
  return (compiled[language ?? 'unknown'] ??= compileBuiltIn(language, (id) => id !== CUE_ID.serving));
}

/** The phrases that distinguish the sides of a call, by the same ids. */
export function sidesPhrasebook(language: Language | null): Phrasebook {
  return (compiledSides[language ?? 'unknown'] ??= compileBuiltIn(language, (id) => SIDES.includes(id)));
}

function compileBuiltIn(language: Language | null, isWanted: (id: number) => boolean): Phrasebook {
  const sources = SOURCES[language ?? 'unknown'];
  const phrasesById: string[][] = Array.from({ length: CONCEPT_COUNT }, () => []);
  const add = (id: number, list: string, write: Source['write']) => {
    if (isWanted(id)) phrasesById[id]?.push(...splitPhrases(list).map(write));
  };
  for (const { phrases, write } of sources) {
    for (const name of LEXICON_NAMES) add(LEXICON_ID[name], phrases.lexicons[name], write);
    for (const name of CUE_NAMES) add(CUE_ID[name], phrases.cues[name], write);
    TOPICS.forEach((topic, index) => add(FIRST_TOPIC_ID + index, phrases.topics[topic], write));
  }
  const concepts: Concept[] = phrasesById.map((phrases, id) => ({ id, phrases }));
  return compilePhrasebook(concepts, negationsOf(sources));
}

/** Compiles a firm's own phrases, with the negations of the language. */
export function compileFirmPhrasebook(language: Language | null, concepts: readonly Concept[]): Phrasebook {
  return compilePhrasebook(concepts, negationsOf(SOURCES[language ?? 'unknown']));
}

function negationsOf(sources: readonly Source[]): Negations {
  return {
    before: sources.flatMap(({ phrases, write }) => splitPhrases(phrases.negations.before).map(write)),
    after: sources.flatMap(({ phrases, write }) => splitPhrases(phrases.negations.after).map(write)),
  };
}
