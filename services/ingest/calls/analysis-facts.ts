import { type AnswerCounts, countAnswers } from '@call-analysis/events';
import { z } from 'zod';

/** The facts of an analysis that lists and statistics use. */
export interface AnalysisFacts {
  /** How many answers need a review. */
  readonly needsReview: number;
  readonly counts: AnswerCounts;
  readonly autoFailed: boolean;
  readonly autoFailSuspected: boolean;
  readonly topics: readonly string[];
  readonly resolution: string | null;
  readonly scorecard: { readonly uuid: string; readonly name: string; readonly revision: number | null };
  /** Shares of the call. */
  readonly operatorTalk: number | null;
  readonly silence: number | null;
  readonly interruptions: number | null;
  /** From -1 to 1. */
  readonly clientSentiment: number | null;
  /** The answered questions that count for the score. */
  readonly points: readonly {
    readonly uuid: string;
    readonly text: string;
    readonly points: number;
    readonly maxPoints: number;
  }[];
}

const share = z.number().nullish();

/** Analyses of every release: what one of them does not have yet is unknown. */
const Body = z.object({
  scorecard: z.object({ uuid: z.string(), name: z.string(), revision: z.int().nullable().default(null) }),
  auto_failed: z.boolean(),
  auto_fail_suspected: z.boolean().default(false),
  sections: z.array(
    z.object({
      questions: z.array(
        z.object({
          uuid: z.string(),
          text: z.string(),
          answer: z.string().nullable(),
          not_applicable: z.boolean().default(false),
          points: z.number().nullable(),
          max_points: z.number(),
          needs_review: z.boolean(),
        }),
      ),
    }),
  ),
  topics: z.array(z.string()),
  resolution: z.string().nullish(),
  sentiment: z.object({ client: share }).nullish(),
  metrics: z.object({ talk_ratio: z.object({ operator: share, silence: share }), interruptions: share }),
});

/** The facts of a stored analysis of any release; null when it has none of them, as an empty object. */
export function factsOf(analysis: unknown): AnalysisFacts | null {
  const parsed = Body.safeParse(analysis);
  return parsed.success ? factsIn(parsed.data) : null;
}

/** The facts of an analysis of this release. */
export function factsIn({
  scorecard,
  auto_failed,
  auto_fail_suspected,
  sections,
  topics,
  resolution,
  sentiment,
  metrics,
}: z.infer<typeof Body>): AnalysisFacts {
  const questions = sections.flatMap((section) => section.questions);
  return {
    counts: countAnswers(sections),
    needsReview: questions.filter(({ needs_review }) => needs_review).length,
    autoFailed: auto_failed,
    autoFailSuspected: auto_fail_suspected,
    topics: [...new Set(topics)],
    resolution: resolution ?? null,
    scorecard,
    operatorTalk: metrics.talk_ratio.operator ?? null,
    silence: metrics.talk_ratio.silence ?? null,
    interruptions: metrics.interruptions ?? null,
    clientSentiment: sentiment?.client ?? null,
    points: questions.flatMap(({ uuid, text, points, max_points }) =>
      points === null ? [] : [{ uuid, text, points, maxPoints: max_points }],
    ),
  };
}
