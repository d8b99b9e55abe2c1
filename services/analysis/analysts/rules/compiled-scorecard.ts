import { type Heard, type Language, listenedFor, type Role } from '@call-analysis/events';
import type { Scorecard } from '../../scorecards/scorecard.ts';
import { builtInPhrasebook, compileFirmPhrasebook, CONCEPT_COUNT, LEXICON_ID } from './concepts.ts';
import type { Concept, Phrasebook } from './matching/phrasebook.ts';
import { hasPhrases } from './phrases/language-phrases.ts';

/** The phrases of a scorecard in one language, ready for searching. */
export interface CompiledScorecard {
  readonly builtInBook: Phrasebook;
  /** Null when the firm has no phrases of its own for the language. */
  readonly firmBook: Phrasebook | null;
  /** The conditions of all questions: what the rules search for. */
  readonly conditions: readonly Heard[];
  /** Indexes into `conditions` by role and concept. A concept from CONCEPT_COUNT on consists of a firm's phrases. */
  readonly conditionsOf: Readonly<Record<Role, readonly (readonly number[])[]>>;
}

const compiled = new WeakMap<Scorecard, Partial<Record<Language | 'unknown', CompiledScorecard>>>();

/** Compiles a scorecard the first time it is used with a language. The result is kept as long as the object. */
export function compileScorecard(scorecard: Scorecard, language: Language | null): CompiledScorecard {
  const byLanguage = compiled.get(scorecard) ?? {};
  compiled.set(scorecard, byLanguage);
  return (byLanguage[language ?? 'unknown'] ??= compile(scorecard, language));
}

function compile(scorecard: Scorecard, language: Language | null): CompiledScorecard {
  const conditions = listenedFor(scorecard.sections);
  const firmConcepts: Concept[] = [];
  const conditionsOf: Record<Role, number[][]> = { operator: [], client: [] };
  conditions.forEach(({ role, source }, index) => {
    let concept = CONCEPT_COUNT + firmConcepts.length;
    if (source.lexicon !== undefined) {
      if (!hasPhrases(source.lexicon)) return;
      concept = LEXICON_ID[source.lexicon];
    } else {
      const byLanguage = source.phrases ?? {};
      const phrases = language === null ? Object.values(byLanguage).flat() : (byLanguage[language] ?? []);
      firmConcepts.push({ id: concept, phrases: phrases.filter((phrase) => phrase !== undefined) });
    }
    (conditionsOf[role][concept] ??= []).push(index);
  });
  return {
    builtInBook: builtInPhrasebook(language),
    firmBook: firmConcepts.length === 0 ? null : compileFirmPhrasebook(language, firmConcepts),
    conditions,
    conditionsOf,
  };
}
