import type { Schemas } from '../../api/client.ts';

export type Scorecard = Schemas['Scorecard'];
export type Section = Schemas['ScorecardSection'];
export type Question = Schemas['ScorecardQuestion'];
export type RuleDecision = Schemas['RuleDecision'];

export const NEW_QUESTION: Question = {
  text: '',
  weight: 1,
  choices: [
    { label: '+', points: 1, auto_fail: false },
    { label: '–', points: 0, auto_fail: false },
  ],
  decided: { by: 'model', role: 'operator', instructions: null, fallback: null },
};

/** A list with one item replaced, or taken out where there is none. */
export function withItem<Item>(items: readonly Item[], at: number, item: Item | null): Item[] {
  return items.flatMap((each, index) => (index !== at ? [each] : item === null ? [] : [item]));
}

/** The question with a choice renamed, also in its rules. */
export function renameChoice(question: Question, at: number, label: string): Question {
  const old = question.choices[at]!.label;
  const rename = (answer: string) => (answer === old ? label : answer);
  const inRule = <Rule extends Pick<RuleDecision, 'cases' | 'otherwise'>>(rule: Rule): Rule => ({
    ...rule,
    cases: rule.cases.map((each) => ({ ...each, answer: rename(each.answer) })),
    otherwise: rename(rule.otherwise),
  });
  const { decided } = question;
  return {
    ...question,
    choices: withItem(question.choices, at, { ...question.choices[at]!, label }),
    decided:
      decided.by === 'rule'
        ? inRule(decided)
        : { ...decided, fallback: decided.fallback === null ? null : inRule(decided.fallback) },
  };
}

/** The question decided in the other way. The rule stays as the model's fallback, and comes back from there. */
export function decideBy(question: Question, by: 'rule' | 'model'): Question {
  const { decided, choices } = question;
  if (decided.by === by) return question;
  if (decided.by === 'rule') {
    const { applies, cases, otherwise } = decided;
    return {
      ...question,
      decided: { by: 'model', role: 'operator', instructions: null, fallback: { applies, cases, otherwise } },
    };
  }
  const rule = decided.fallback ?? {
    applies: { spoke: [], heard: null },
    cases: [],
    otherwise: choices.at(-1)?.label ?? '',
  };
  return { ...question, decided: { by: 'rule', ...rule } };
}

/** Phrases as lines of the kind "en: bonus point*". */
export function phraseLines(phrases: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(phrases)
    .flatMap(([language, all]) => all.map((phrase) => `${language}: ${phrase}`))
    .join('\n');
}

export function phrasesOf(lines: string): Record<string, string[]> {
  const phrases: Record<string, string[]> = {};
  for (const line of lines.split('\n')) {
    const [, language = 'en', phrase = ''] = /^(?:\s*([a-z]{2})\s*:)?\s*(.*?)\s*$/.exec(line) ?? [];
    if (phrase !== '') (phrases[language] ??= []).push(phrase);
  }
  return phrases;
}

export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly text: string;
  /** Of a changed question: which of its parts. */
  readonly parts: readonly ('text' | 'weight' | 'choices' | 'decided')[];
}

/** Whether a revision is what a draft says: the service gives new questions their uuids, and takes spaces from the ends of texts. */
export function isSavedAs(draft: unknown, saved: unknown): boolean {
  if (typeof draft === 'string' && typeof saved === 'string') return draft.trim() === saved.trim();
  if (typeof draft !== 'object' || draft === null || typeof saved !== 'object' || saved === null)
    return draft === saved;
  const names = new Set([...Object.keys(draft), ...Object.keys(saved)]);
  const value = (of: object, name: string) => Reflect.get(of, name) as unknown;
  return [...names].every(
    (name) => (name === 'uuid' && !Object.hasOwn(draft, name)) || isSavedAs(value(draft, name), value(saved, name)),
  );
}

/** The change of each question between two revisions. */
export function differences(before: Scorecard, after: Scorecard): Difference[] {
  const questions = ({ sections }: Scorecard) => sections.flatMap((section) => section.questions);
  const old = new Map(questions(before).map((question) => [question.uuid, question]));
  const found: Difference[] = [];
  for (const question of questions(after)) {
    const was = old.get(question.uuid);
    old.delete(question.uuid);
    if (was === undefined) {
      found.push({ kind: 'added', text: question.text, parts: [] });
      continue;
    }
    const parts = (['text', 'weight', 'choices', 'decided'] as const).filter(
      (part) => JSON.stringify(was[part]) !== JSON.stringify(question[part]),
    );
    if (parts.length > 0) found.push({ kind: 'changed', text: question.text, parts });
  }
  return [...found, ...[...old.values()].map(({ text }) => ({ kind: 'removed' as const, text, parts: [] }))];
}
