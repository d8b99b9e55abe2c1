import { countAnswers } from '@call-analysis/events';
import { z } from 'zod';

/** The facts of an analysis that lists and statistics use. */
export type AnalysisFacts = ReturnType<typeof factsIn>;

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
export function factsIn(analysis: z.infer<typeof Body>) {
  const { scorecard, sections, metrics } = analysis;
  const questions = sections.flatMap((section) => section.questions);
  return {
    counts: countAnswers(sections),
    /** How many answers need a review. */
    needsReview: questions.filter(({ needs_review }) => needs_review).length,
    autoFailed: analysis.auto_failed,
    autoFailSuspected: analysis.auto_fail_suspected,
    topics: [...new Set(analysis.topics)],
    resolution: analysis.resolution ?? null,
    scorecard,
    /** Shares of the call. */
    operatorTalk: metrics.talk_ratio.operator ?? null,
    silence: metrics.talk_ratio.silence ?? null,
    interruptions: metrics.interruptions ?? null,
    clientSentiment: analysis.sentiment?.client ?? null,
    /** The answered questions that count for the score. */
    points: questions.flatMap(({ uuid, text, points, max_points }) =>
      points === null ? [] : [{ uuid, text, points, maxPoints: max_points }],
    ),
  };
}
