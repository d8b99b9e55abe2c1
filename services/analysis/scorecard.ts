import { Language, Role } from '@call-analysis/events';
import { z } from 'zod';
import { LEXICON_NAMES } from './phrases/knowledge.ts';
import { phraseFault } from './phrasebook.ts';

/**
 * A scorecard in the shape in which it is stored and edited. Limits keep an analysis, whose every answer may carry
 * three quotes, well under what an event carries inline.
 */
export const MAX_QUESTIONS = 50;
const MAX_PHRASES_PER_LANGUAGE = 200;
const MAX_PHRASES = 2000;

const Label = z.string().trim().min(1).max(100);

const Phrase = z.string().trim().min(1).max(200).superRefine((phrase, context) => {
  const fault = phraseFault(phrase);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});

/** What is listened for: one of our own lexicons, or phrases of the firm by language, written as in phrasebook.ts. */
export const PhraseSource = z.union([
  z.strictObject({ lexicon: z.enum(LEXICON_NAMES) }),
  z.strictObject({ phrases: z.partialRecord(Language, z.array(Phrase).min(1).max(MAX_PHRASES_PER_LANGUAGE)) }),
]);
export type PhraseSource = z.infer<typeof PhraseSource>;

/**
 * Something that somebody says. `opening` and `closing` are the first and last four utterances of that role,
 * or a quarter of them where that is more.
 */
export const Heard = z.strictObject({
  role: Role,
  where: z.enum(['anywhere', 'opening', 'closing']).default('anywhere'),
  source: PhraseSource,
  /** Whether "I will not refund you" counts as saying "I will refund you". */
  even_negated: z.boolean().default(false),
  at_least: z.int().min(1).max(100).default(1),
});
export type Heard = z.infer<typeof Heard>;

/** Decides by phrases: the first case that was heard gives the answer. */
export const RuleDecision = z.strictObject({
  by: z.literal('rule'),
  /** Who must have spoken, and what must have been heard, for the question to apply. */
  applies: z.strictObject({ spoke: z.array(Role).max(2), heard: Heard.nullable() }),
  cases: z.array(z.strictObject({ heard: Heard, answer: Label })).min(1).max(20),
  otherwise: Label,
});
export type RuleDecision = z.infer<typeof RuleDecision>;

export const Decision = z.discriminatedUnion('by', [RuleDecision]);
export type Decision = z.infer<typeof Decision>;

export const Choice = z.strictObject({
  label: Label,
  points: z.number().min(0).max(1000),
  /** This answer makes the whole call score 0. */
  auto_fail: z.boolean().default(false),
});
export type Choice = z.infer<typeof Choice>;

type Check = { addIssue(issue: { code: 'custom'; path?: (string | number)[]; message: string }): void };

function report(check: Check, path: (string | number)[], message: string): void {
  check.addIssue({ code: 'custom', path, message });
}

export const Question = z
  .strictObject({
    uuid: z.uuid(),
    text: z.string().trim().min(1).max(300),
    weight: z.number().positive().max(1000),
    choices: z.array(Choice).min(2).max(10),
    decided: Decision,
  })
  .superRefine((question, context) => {
    const labels = new Set(question.choices.map((choice) => choice.label));
    if (labels.size < question.choices.length) {
      report(context, ['choices'], 'Two choices have the same label.');
    }
    if (!question.choices.some((choice) => choice.points > 0)) {
      report(context, ['choices'], 'At least one choice must give points.');
    }
    const { cases, otherwise } = question.decided;
    cases.forEach(({ answer }, index) => {
      if (labels.has(answer)) return;
      report(context, ['decided', 'cases', index, 'answer'], 'This is no choice of the question.');
    });
    if (!labels.has(otherwise)) {
      report(context, ['decided', 'otherwise'], 'This is no choice of the question.');
    }
  });
export type Question = z.infer<typeof Question>;

export const Section = z.strictObject({
  name: z.string().trim().min(1).max(100),
  questions: z.array(Question).min(1).max(MAX_QUESTIONS),
});
export type Section = z.infer<typeof Section>;

export const ScorecardBody = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    sections: z.array(Section).min(1).max(20),
  })
  .superRefine((body, context) => {
    const uuids = body.sections.flatMap((section) => section.questions.map((question) => question.uuid));
    if (uuids.length > MAX_QUESTIONS) {
      report(context, ['sections'], `A scorecard has at most ${MAX_QUESTIONS} questions.`);
    }
    if (countPhrases(body.sections) > MAX_PHRASES) {
      report(context, ['sections'], `A scorecard has at most ${MAX_PHRASES} phrases.`);
    }
    if (new Set(uuids).size < uuids.length) {
      report(context, ['sections'], 'Two questions have the same uuid.');
    }
  });
export type ScorecardBody = z.infer<typeof ScorecardBody>;

/** One revision; it never changes. */
export interface Scorecard extends ScorecardBody {
  readonly uuid: string;
  readonly revision: number;
}

export function maxPoints(question: Pick<Question, 'choices'>): number {
  return Math.max(...question.choices.map((choice) => choice.points));
}

/** Everything that the questions of a scorecard listen for, in order. */
export function listenedFor(sections: readonly Section[]): Heard[] {
  return sections.flatMap((section) =>
    section.questions.flatMap(({ decided }) => [
      ...(decided.applies.heard === null ? [] : [decided.applies.heard]),
      ...decided.cases.map(({ heard }) => heard),
    ]),
  );
}

function countPhrases(sections: readonly Section[]): number {
  let count = 0;
  for (const { source } of listenedFor(sections)) {
    if ('phrases' in source) for (const phrases of Object.values(source.phrases)) count += phrases?.length ?? 0;
  }
  return count;
}
