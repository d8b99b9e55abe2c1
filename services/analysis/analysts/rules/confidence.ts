import type { Heard, Language, PhraseDecision } from '@call-analysis/events';
import measured from './confidence.json' with { type: 'json' };

/** How a rule came to its answer: by the case of this number, by none, or because the question does not apply. */
export type OutcomeKind = number | 'otherwise' | 'not_applicable';

/** From this share on, phrases decide without a person or a language model. */
export const RELIABLE = 0.9;

/** By language, then by kind of answer: the share of such answers that were right. `npm run evaluate` writes it. */
type Table = Readonly<Record<string, Readonly<Record<string, number>>>>;

/**
 * The share of answers of this kind that were right on the labelled conversations; null when the kind was not measured,
 * as with a firm's own phrases.
 */
export function confidenceOf(decision: PhraseDecision, outcome: OutcomeKind, language: Language): number | null {
  const kind = kindOf(decision, outcome);
  return kind === null ? null : ((measured as Table)[language]?.[kind] ?? null);
}

/**
 * The name of a kind of answer: the built-in phrases that are searched for, and what was found. So it is the same in
 * every scorecard that uses these phrases in the same way. Null with a firm's own phrases.
 */
export function kindOf({ applies, cases }: PhraseDecision, outcome: OutcomeKind): string | null {
  const listened = cases.map(({ heard }) => conditionOf(heard));
  if (applies.heard !== null) listened.unshift(conditionOf(applies.heard));
  if (listened.includes(null)) return null;
  const found = typeof outcome === 'number' ? conditionOf(cases[outcome]!.heard) : outcome;
  return `${listened.join(', ')}: ${found}`;
}

function conditionOf({ role, where, source, at_least }: Heard): string | null {
  if (source.lexicon === undefined) return null;
  const times = at_least === 1 ? '' : ` ${at_least} times`;
  return `${role} ${source.lexicon}${where === 'anywhere' ? '' : ` ${where}`}${times}`;
}
