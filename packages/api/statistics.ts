import { z } from 'zod';
import { CallFilter, rangesInOrder } from './call-query.ts';
import { Count, timeZone, wholeNumber } from './fields.ts';

/** docs/api.md, "Statistics". */

export const Grouping = z
  .enum([
    'hour',
    'day',
    'week',
    'month',
    'operator_name',
    'operator_group_name',
    'segment_type',
    'language',
    'status',
    'topic',
    'resolution',
    'scorecard',
    'question',
  ])
  .meta({ id: 'Grouping' });

/** The numbers that groups can be sorted by. */
export const SortableNumber = z.enum([
  'calls',
  'scored',
  'average',
  'p10',
  'p50',
  'p90',
  'auto_failed',
  'needs_review',
  'reviewed',
  'duration_average',
  'talk_ratio_operator',
  'silence_ratio',
  'interruptions_average',
  'sentiment_client',
  'points_ratio',
]);

const Score = z.number().min(0).max(100).nullable();

const statistic = {
  calls: Count,
  scored: Count.meta({ description: 'Calls with a score.' }),
  score: z.object({ average: Score, p10: Score, p50: Score, p90: Score }).meta({ id: 'ScoreStatistic' }),
  auto_failed: Count,
  needs_review: Count.meta({ description: 'Calls with an answer that needs a review.' }),
  reviewed: Count.meta({ description: 'Calls whose current analysis is reviewed.' }),
  duration_average: z.number().nullable().meta({ description: 'Seconds.' }),
  talk_ratio_operator: z.number().nullable(),
  silence_ratio: z.number().nullable(),
  interruptions_average: z.number().nullable(),
  sentiment_client: z.number().nullable(),
  points_ratio: z.number().nullable().meta({ description: 'Points of the highest possible. By question only.' }),
};

const example = {
  calls: 120,
  scored: 118,
  score: { average: 81.4, p10: 62, p50: 83.3, p90: 97.5 },
  auto_failed: 1,
  needs_review: 12,
  reviewed: 30,
  duration_average: 184.2,
  talk_ratio_operator: 0.54,
  silence_ratio: 0.08,
  interruptions_average: 1.25,
  sentiment_client: -0.1,
  points_ratio: null,
};

const Group = z
  .object({ key: z.string().nullable(), label: z.string().nullable(), ...statistic })
  .meta({ id: 'StatisticGroup', description: '`key` is null for calls without a value.' });

export const Statistics = z
  .object({
    group_by: Grouping,
    tz: z.string(),
    items: z.array(Group),
    total: z.object(statistic).meta({ id: 'StatisticTotal' }),
  })
  .meta({
    id: 'Statistics',
    examples: [
      {
        group_by: 'day',
        tz: 'Asia/Tashkent',
        items: [{ key: '2026-10-01', label: '2026-10-01', ...example }],
        total: example,
      },
    ],
  });

const MAX_GROUPS = 1000;

const sorts = SortableNumber.options.flatMap((name) => [name, `-${name}`]);

export const StatisticsQuery = rangesInOrder(
  z.strictObject({
    ...CallFilter.shape,
    group_by: Grouping,
    tz: timeZone()
      .optional()
      .meta({ description: 'The time zone of `hour`, `day`, `week` and `month`. The firm has a default.' }),
    sort: z
      .enum(sorts as [string, ...string[]])
      .optional()
      .meta({ description: 'Default: times ascending, others by `-calls`.' }),
    limit: wholeNumber(1, MAX_GROUPS).default(MAX_GROUPS),
  }),
);

/** docs/api.md, "Words". */
export const SpokenWordsQuery = rangesInOrder(z.strictObject(CallFilter.shape));

export const SpokenWords = z
  .object({
    calls: Count.meta({ description: 'Whose words were counted.' }),
    items: z.array(
      z
        .object({ word: z.string(), calls: Count.meta({ description: 'In which it was said.' }) })
        .meta({ id: 'SpokenWord' }),
    ),
  })
  .meta({ id: 'SpokenWords', examples: [{ calls: 100, items: [{ word: 'delivery', calls: 31 }] }] });
export type SpokenWords = z.infer<typeof SpokenWords>;
