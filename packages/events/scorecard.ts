import { z } from 'zod';
import { Uuid } from './envelope.ts';
import { Language, Role } from './transcript.ts';

/**
 * A scorecard as a firm writes it, as it is stored and as the API shows it. These limits keep an analysis, in which
 * every answer may have three quotes, well under INLINE_BYTES.
 */
const MAX_SECTIONS = 20;
export const MAX_QUESTIONS = 50;
const MAX_PHRASES_PER_LANGUAGE = 200;
const MAX_PHRASES = 2000;

/** The built-in phrase lists, each in all supported languages, to which a question may refer by name. */
export const Lexicon = z.enum([
  'greeting',
  'introduction',
  'need',
  'unhappy',
  'empathy',
  'solution',
  'refusal',
  'explanation',
  'understanding',
  'dead_promise',
  'courtesy',
  'next_step',
  'further_help',
  'farewell',
  'abuse',
  'rudeness',
  'blame',
]);
export type Lexicon = z.infer<typeof Lexicon>;

/** A single line of text without control characters, trimmed. Lengths are in code points. */
function line(maxLength: number) {
  return z
    .string()
    .trim()
    .min(1)
    .refine(
      (text) => text.isWellFormed() && !/\p{Cc}/u.test(text),
      'must not contain control characters or halves of characters',
    )
    .refine(
      (text) => text.length <= maxLength || Array.from(text).length <= maxLength,
      `must have at most ${maxLength} characters`,
    )
    .meta({ maxLength });
}

const Label = line(80);

/** Returns the fault of a phrase as a sentence; null for a valid phrase. */
type PhraseFault = (phrase: string) => string | null;

/** The phrases of a condition: a built-in lexicon, or the firm's own phrases by language. */
function phraseSource(phraseFault: PhraseFault) {
  const Phrase = line(200).superRefine((phrase, context) => {
    const message = phraseFault(phrase);
    if (message !== null) report(context, [], message);
  });
  return z
    .strictObject({
      lexicon: Lexicon.optional(),
      phrases: z
        .partialRecord(Language, z.array(Phrase).min(1).max(MAX_PHRASES_PER_LANGUAGE))
        .refine((phrases) => Object.keys(phrases).length > 0, `must name a language: ${Language.options.join(', ')}`)
        .optional(),
    })
    .refine(
      ({ lexicon, phrases }) => (lexicon === undefined) !== (phrases === undefined),
      'must have either a lexicon or phrases',
    );
}

/**
 * A condition: the role says one of the phrases. `opening` and `closing` are the first and last four utterances of that
 * role, or a quarter of them if that is more.
 */
export const Heard = heard(() => null);
export type Heard = z.infer<typeof Heard>;

function heard(phraseFault: PhraseFault) {
  return z.strictObject({
    role: Role,
    where: z.enum(['anywhere', 'opening', 'closing']).default('anywhere'),
    source: phraseSource(phraseFault),
    /** Whether "I will not refund you" counts as saying "I will refund you". */
    even_negated: z.boolean().default(false),
    at_least: z.int().min(1).max(100).default(1),
  });
}

/** Decides by phrases: the first case whose condition is met gives the answer. */
function phraseDecision(phraseFault: PhraseFault) {
  const Condition = heard(phraseFault);
  return z.strictObject({
    /** The question applies if these roles spoke and this condition is met. */
    applies: z
      .strictObject({ spoke: z.array(Role).max(2).default([]), heard: Condition.nullable().default(null) })
      .default({ spoke: [], heard: null }),
    cases: z
      .array(z.strictObject({ heard: Condition, answer: Label }))
      .min(1)
      .max(20),
    otherwise: Label,
  });
}
/** How phrases decide a question. `otherwise` is the answer when no case matches. */
export type PhraseDecision = z.infer<ReturnType<typeof phraseDecision>>;

function ruleDecision(phrases: ReturnType<typeof phraseDecision>) {
  return z.strictObject({ by: z.literal('rule'), ...phrases.shape });
}
type RuleDecision = z.infer<ReturnType<typeof ruleDecision>>;

/** Decided by a language model, which gets `instructions` with the question. */
function modelDecision(phrases: ReturnType<typeof phraseDecision>) {
  return z.strictObject({
    by: z.literal('model'),
    /** Whose words may be quoted for the answer. */
    role: z.enum([...Role.options, 'any']).default('operator'),
    instructions: line(1000).nullable().default(null),
    /** Answers while no language model does. Without it the question stays open. */
    fallback: phrases.nullable().default(null),
  });
}
type ModelDecision = z.infer<ReturnType<typeof modelDecision>>;

/** The phrases that answer a question, or that replace a language model; null when it has none. */
export function phrasesOf(decided: RuleDecision | ModelDecision): PhraseDecision | null {
  // A scorecard that was stored before fallbacks existed has none.
  return decided.by === 'rule' ? decided : (decided.fallback ?? null);
}

export const Choice = z.strictObject({
  label: Label,
  points: z.number().min(0).max(1000),
  /** This answer gives the complete call a score of 0. */
  auto_fail: z.boolean().default(false),
});
export type Choice = z.infer<typeof Choice>;

type Check = { addIssue(issue: { code: 'custom'; path?: (string | number)[]; message: string }): void };

function report(check: Check, path: (string | number)[], message: string): void {
  check.addIssue({ code: 'custom', path, message });
}

function question(phraseFault: PhraseFault) {
  const phrases = phraseDecision(phraseFault);
  return z
    .strictObject({
      /** The uuid of an existing question of the scorecard. Absent for a new question, which gets one. */
      uuid: Uuid.optional(),
      text: line(300),
      weight: z.number().positive().max(1000),
      choices: z.array(Choice).min(2).max(10),
      decided: z.discriminatedUnion('by', [ruleDecision(phrases), modelDecision(phrases)]),
    })
    .superRefine(({ choices, decided }, context) => {
      const labels = choices.map((choice) => choice.label);
      labels.forEach((label, index) => {
        if (labels.indexOf(label) === index) return;
        report(context, ['choices', index, 'label'], 'must differ from the labels of the other choices');
      });
      if (!choices.some((choice) => choice.points > 0)) {
        report(context, ['choices'], 'must have a choice that gives points');
      }
      const decision = phrasesOf(decided);
      if (decision === null) return;
      const path = decided.by === 'rule' ? ['decided'] : ['decided', 'fallback'];
      const known = `must be the label of one of the question's choices: ${labels.join(', ')}`;
      decision.cases.forEach(({ answer }, index) => {
        if (!labels.includes(answer)) report(context, [...path, 'cases', index, 'answer'], known);
      });
      if (!labels.includes(decision.otherwise)) report(context, [...path, 'otherwise'], known);
    });
}

function section(phraseFault: PhraseFault) {
  return z.strictObject({
    name: line(100),
    questions: z.array(question(phraseFault)).min(1).max(MAX_QUESTIONS),
  });
}
type SectionDraft = z.infer<ReturnType<typeof section>>;

/** Validates a scorecard as far as that does not depend on the firm's other data. */
export function scorecardDraft(phraseFault: PhraseFault = () => null) {
  return z.strictObject({
    name: line(200),
    /**
     * Null makes it one of the firm's default scorecards. Given with the first revision; later ones cannot change it.
     */
    segment_type: line(255).nullable().optional(),
    sections: z.array(section(phraseFault)).min(1).max(MAX_SECTIONS).superRefine(checkSections),
  });
}

function checkSections(sections: readonly SectionDraft[], context: Check): void {
  const seen = new Set<string>();
  let questions = 0;
  sections.forEach((section, at) => {
    section.questions.forEach(({ uuid }, index) => {
      questions += 1;
      if (uuid === undefined) return;
      if (seen.has(uuid))
        report(context, [at, 'questions', index, 'uuid'], 'must differ from the uuids of the other questions');
      seen.add(uuid);
    });
  });
  if (questions > MAX_QUESTIONS) report(context, [], `must have at most ${MAX_QUESTIONS} questions, not ${questions}`);
  const phrases = phrasesIn(sections).length;
  if (phrases > MAX_PHRASES) report(context, [], `must have at most ${MAX_PHRASES} phrases, not ${phrases}`);
}

/** The scorecard or revision that a firm sends. */
export const ScorecardDraft = scorecardDraft();
export type ScorecardDraft = z.infer<typeof ScorecardDraft>;
export type Question = SectionDraft['questions'][number] & { uuid: string };
export interface Section extends Omit<SectionDraft, 'questions'> {
  questions: Question[];
}
/** The contents of a revision. */
export interface ScorecardBody {
  name: string;
  sections: Section[];
}

/** The conditions of all questions, in order. */
export function listenedFor(sections: readonly SectionDraft[]): Heard[] {
  return sections.flatMap((section) =>
    section.questions.flatMap(({ decided }) => {
      const phrases = phrasesOf(decided);
      if (phrases === null) return [];
      const { applies, cases } = phrases;
      return [...(applies.heard === null ? [] : [applies.heard]), ...cases.map(({ heard }) => heard)];
    }),
  );
}

/** The firm's own phrases in all conditions, repeated if several conditions have the same phrase. */
export function phrasesIn(sections: readonly SectionDraft[]): string[] {
  return listenedFor(sections).flatMap(({ source }) =>
    Object.values(source.phrases ?? {}).flatMap((phrases) => phrases ?? []),
  );
}
