import { z } from 'zod';

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

export const Answer = z.object({
  uuid: z.uuid(),
  text: z.string(),
  weight: z.number().positive(),
  answer: z.string().nullable(),
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

/** One call under one scorecard revision, in the shape that the API shows (docs/api.md, "Calls"). */
export const Analysis = z.object({
  scorecard: z.object({ uuid: z.uuid(), name: z.string(), revision: z.int().min(1) }),
  analyst: z.object({ name: z.string(), version: z.string() }),
  score: Score,
  auto_failed: z.boolean(),
  sections: z.array(z.object({ name: z.string(), score: Score, questions: z.array(Answer) })),
  summary: z.string(),
  topics: z.array(z.string()),
  sentiment: z.object({ operator: z.number().min(-1).max(1), client: z.number().min(-1).max(1) }),
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
  created_at: z.iso.datetime(),
});
export type Analysis = z.infer<typeof Analysis>;

/** The stages of processing a call, in their order. */
export const Stage = z.enum(['extraction', 'transcription', 'analysis']);
export type Stage = z.infer<typeof Stage>;

/** How the analysis of a call ended: with a score, or because no one speaks in it. */
export const Outcome = z.enum(['scored', 'no_speech']);
export type Outcome = z.infer<typeof Outcome>;
