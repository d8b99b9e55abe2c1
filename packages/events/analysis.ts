import { z } from 'zod';
import { Uuid } from './envelope.ts';
import { Role } from './transcript.ts';

const Share = z.number().min(0).max(1);
const Points = z.number();
/** 0 to 100 with one decimal, or null when no question applied. */
const Score = z.number().min(0).max(100).nullable();

/** A verbatim quote and its position: `utterance` is an index, the characters are UTF-16 units, end exclusive. */
export const Evidence = z.object({
  utterance: z.int().min(0),
  quote: z.string().min(1),
  start_char: z.int().min(0),
  end_char: z.int().min(1),
});
export type Evidence = z.infer<typeof Evidence>;

/** The decider of an answer. `fallback`: the phrases of a question that a language model should have answered. */
export const DecidedBy = z.enum(['rule', 'fallback', 'model', 'person']);
export type DecidedBy = z.infer<typeof DecidedBy>;

/** The defaults are those of analyses from before these fields existed: rules answered every question. */
export const Answer = z.object({
  uuid: Uuid,
  text: z.string(),
  weight: z.number().positive(),
  /** The label; null while the question is open, and when it does not apply. */
  answer: z.string().nullable(),
  decided_by: DecidedBy.default('rule'),
  /** How sure the answer is; null when that is unknown. */
  confidence: z.number().min(0).max(1).nullable().default(null),
  points: Points.nullable(),
  max_points: Points,
  not_applicable: z.boolean(),
  evidence: z.array(Evidence),
  /** The answer rests on the absence of something from the conversation. */
  evidence_absent: z.boolean(),
  needs_review: z.boolean(),
  explanation: z.string(),
});
export type Answer = z.infer<typeof Answer>;

/** The usage of a language model, and its cost. Input tokens include the cached ones. */
export const Usage = z.object({
  requests: z.int().min(0),
  input_tokens: z.int().min(0),
  cached_input_tokens: z.int().min(0),
  output_tokens: z.int().min(0),
  /** Null when no prices are configured. The amount is a decimal number. */
  cost: z.object({ amount: z.string().regex(/^\d+(\.\d+)?$/), currency: z.string() }).nullable(),
});
export type Usage = z.infer<typeof Usage>;

export const Resolution = z.enum(['resolved', 'follow_up', 'unresolved']);
export type Resolution = z.infer<typeof Resolution>;

/** Words of the conversation that try to command its assessment: verbatim, with the index of the utterance. */
export const Manipulation = Evidence.pick({ utterance: true, quote: true });
export type Manipulation = z.infer<typeof Manipulation>;

/** From -1 to 1. */
const Feeling = z.number().min(-1).max(1);
const Feelings = z.object({ operator: Feeling.nullable(), client: Feeling.nullable() });
type Feelings = z.infer<typeof Feelings>;

/** How each of the two feels towards the other in the whole call, and at its start and its end. Null where it is unknown. */
export const Sentiment = Feelings.extend({ start: Feelings, end: Feelings });
export type Sentiment = z.infer<typeof Sentiment>;

const UNKNOWN: Feelings = { operator: null, client: null };

/** Null when nothing is known. */
export function sentimentOf(whole: Feelings, start: Feelings = UNKNOWN, end: Feelings = UNKNOWN): Sentiment | null {
  const isKnown = [whole, start, end].some(({ operator, client }) => operator !== null || client !== null);
  return isKnown ? { operator: whole.operator, client: whole.client, start, end } : null;
}

/** Analyses from before `start` and `end` existed have the sentiment at the end of the call alone. */
function ofTheEnd(stored: unknown): unknown {
  const earlier = z.strictObject(Feelings.shape).safeParse(stored);
  return earlier.success ? sentimentOf(earlier.data, UNKNOWN, earlier.data) : stored;
}

/**
 * One call under one scorecard revision, as the analyst made it. A reader of an older version drops fields it does not
 * know, and one of this version fills in those that an older analysis lacks.
 */
export const Analysis = z.object({
  scorecard: z.object({ uuid: Uuid, name: z.string(), revision: z.int().min(1) }),
  analyst: z.object({ name: z.string(), version: z.string(), model: z.string().nullable().default(null) }),
  score: Score,
  auto_failed: z.boolean(),
  /**
   * An answer that would fail the call was found by phrases alone, or not proved. The score is as if there were none.
   */
  auto_fail_suspected: z.boolean().default(false),
  sections: z.array(z.object({ name: z.string(), score: Score, questions: z.array(Answer) })),
  summary: z.string(),
  /** Why the client called, in one line. */
  reason: z.string().nullable().default(null),
  resolution: Resolution.nullable().default(null),
  topics: z.array(z.string()),
  /** Null when nothing has decided it. */
  sentiment: z.preprocess(ofTheEnd, Sentiment.nullable()),
  /** An attempt to command the assessment, which a language model has reported. Every answer is then for review. */
  manipulation: Manipulation.nullable().default(null),
  metrics: z.object({
    /** Shares of speaking time if the transcript has times, otherwise of words; `silence` is null without times. */
    talk_ratio: z.object({ operator: Share, client: Share, silence: Share.nullable() }),
    /** Null without times. */
    interruptions: z.int().min(0).nullable(),
    /** The longest run of utterances by one role: seconds if the transcript has times, otherwise words. */
    longest_monologue: z.object({ operator: z.number().min(0), client: z.number().min(0) }),
    words: z.object({ operator: z.int().min(0), client: z.int().min(0) }),
    questions_asked: z.int().min(0),
  }),
  /** Null when no language model was asked. */
  usage: Usage.nullable().default(null),
  created_at: z.iso.datetime(),
});
export type Analysis = z.infer<typeof Analysis>;

/**
 * An analysis as `call.analyzed.v1` carries it. The sentiment of the whole call is always a number, because readers of an older
 * version refuse null: it is 0 for the roles in `sentiment_unknown`. `start` and `end` are absent in events of an older version.
 */
export const PublishedAnalysis = Analysis.extend({
  sentiment: z.object({
    operator: Feeling,
    client: Feeling,
    start: Feelings.optional(),
    end: Feelings.optional(),
  }),
  sentiment_unknown: z.array(Role).default([]),
});
export type PublishedAnalysis = z.infer<typeof PublishedAnalysis>;

export function publishedAnalysis({ sentiment, ...analysis }: Analysis): PublishedAnalysis {
  return {
    ...analysis,
    sentiment: { ...sentiment, operator: sentiment?.operator ?? 0, client: sentiment?.client ?? 0 },
    sentiment_unknown: Role.options.filter((role) => (sentiment?.[role] ?? null) === null),
  };
}

export function receivedAnalysis({ sentiment, sentiment_unknown, ...analysis }: PublishedAnalysis): Analysis {
  const known = (role: Role) => (sentiment_unknown.includes(role) ? null : sentiment[role]);
  const whole = { operator: known('operator'), client: known('client') };
  return {
    ...analysis,
    sentiment: sentimentOf(whole, sentiment.start, sentiment.start === undefined ? whole : sentiment.end),
  };
}

/** A person's review of an analysis. */
export const Review = z.object({
  /** The user's uuid. */
  by: Uuid,
  at: z.iso.datetime(),
  comment: z.string().nullable(),
  /** Whether the person has looked at every answer. */
  done: z.boolean(),
  /** Counts the changes of the review, from 1. Reviews from before it was counted are at 1. */
  revision: z.int().min(1).default(1),
});
export type Review = z.infer<typeof Review>;

/** An answer of a reviewed analysis. */
export const ReviewedAnswer = Answer.extend({
  /** The machine's answer; null unless a person decided. */
  machine: z
    .object({
      answer: z.string().nullable(),
      decided_by: DecidedBy,
      confidence: z.number().min(0).max(1).nullable(),
    })
    .nullable()
    .default(null),
  /** The person's comment on the answer. */
  comment: z.string().nullable().default(null),
});
export type ReviewedAnswer = z.infer<typeof ReviewedAnswer>;

/** An analysis with its identity and its review, in the shape that the API shows (docs/api.md, "Calls"). */
export const ReviewedAnalysis = Analysis.extend({
  uuid: Uuid,
  sections: z.array(z.object({ name: z.string(), score: Score, questions: z.array(ReviewedAnswer) })),
  /** Whether a person has reviewed what the score is made of. */
  score_source: z.enum(['machine', 'reviewed']).default('machine'),
  review: Review.nullable().default(null),
});
export type ReviewedAnalysis = z.infer<typeof ReviewedAnalysis>;

/**
 * How many questions an analysis has, and how many of them are answered. A score is that of the answered ones. "Does not
 * apply" is an answer. An open question has none.
 */
export function countAnswers(
  sections: readonly { readonly questions: readonly Pick<Answer, 'answer' | 'not_applicable'>[] }[],
): { readonly questions: number; readonly answered: number } {
  const all = sections.flatMap(({ questions }) => questions);
  return {
    questions: all.length,
    answered: all.filter(({ answer, not_applicable }) => answer !== null || not_applicable).length,
  };
}

/** The stages of processing a call, in their order. */
export const Stage = z.enum(['extraction', 'transcription', 'analysis']);
export type Stage = z.infer<typeof Stage>;

/** How the analysis of a call ended: with a score, or without, because the call has no speech. */
export const Outcome = z.enum(['scored', 'no_speech']);
export type Outcome = z.infer<typeof Outcome>;
