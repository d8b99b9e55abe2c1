import { z } from 'zod';
import { SavedFilter, StoredQuery } from './call-query.ts';
import { amongOthers, Count, name, pageOf, Time, Uuid } from './fields.ts';

/** docs/api.md, "The desk of a team". */

const definition = {
  filter: StoredQuery.meta({ description: 'Filters of GET /api/v1/calls, by name: text, or a list of texts.' }),
  per: z.enum(['operator', 'operator_group_name', 'segment_type', 'firm']),
  count: z.int().min(1).nullable().meta({ description: 'How many calls of each, or null.' }),
  share: z.number().min(0).max(1).nullable().meta({ description: 'Which part of the calls of each, or null.' }),
  every: z.enum(['day', 'week']),
};
const exampleDefinition = {
  filter: { outcome: ['scored'] },
  per: 'operator' as const,
  count: 2,
  share: null,
  every: 'week' as const,
};
const exampleSample = {
  begins_at: '2026-09-27T19:00:00.000Z',
  ends_at: '2026-10-04T19:00:00.000Z',
  time_zone: 'Asia/Tashkent',
  seed: '0b9f3a6c5d7e48128f1d2c3b4a596877',
  rule: exampleDefinition,
  calls: 1204,
  chosen: 24,
  at: '2026-10-04T19:00:21.000Z',
};

const Sample = z
  .object({
    begins_at: Time,
    ends_at: Time.meta({ description: 'Exclusive.' }),
    time_zone: z.string(),
    seed: z.string(),
    rule: z.object(definition).meta({ description: 'The rule as it was then.' }),
    calls: Count.meta({ description: 'How many calls matched.' }),
    chosen: Count,
    at: Time.meta({ description: 'When it was made.' }),
  })
  .meta({ id: 'Sample' });
export const SamplePage = pageOf(Sample, 'SamplePage', exampleSample);

const ruleFields = {
  name: name(255),
  filter: SavedFilter,
  per: z.enum(['operator', 'operator_group_name', 'segment_type', 'firm']).meta({
    description: 'Of each of these the sample has calls. An operator is known by `operator_id`, otherwise by name.',
  }),
  count: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: 'How many calls of each, or all if there are fewer.' }),
  share: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta({ description: 'Instead of `count`: which part of the calls of each, rounded up.' }),
  every: z.enum(['day', 'week']).meta({
    description: "In the firm's time zone. Weeks begin on Monday.",
  }),
  enabled: z.boolean().optional().meta({ description: 'Default: true.' }),
};
const onlyOne = { ...amongOthers, path: ['share'], error: 'takes the place of count; leave one out' };
export const NewSamplingRule = z
  .strictObject(ruleFields)
  .refine(({ count, share }) => count === undefined || share === undefined, onlyOne)
  .refine(({ count, share }) => count !== undefined || share !== undefined, {
    ...amongOthers,
    path: ['count'],
    error: 'is required, or share in its place',
    params: { code: 'REQUIRED' },
  })
  .meta({
    id: 'CreateSamplingRuleRequest',
    examples: [
      { name: 'Two calls an operator', filter: { outcome: ['scored'] }, per: 'operator', count: 2, every: 'week' },
    ],
  });
export const SamplingRuleChange = z
  .strictObject(ruleFields)
  .partial()
  .refine(({ count, share }) => count === undefined || share === undefined, onlyOne)
  .meta({ id: 'ChangeSamplingRuleRequest', examples: [{ enabled: false }] });

const exampleRule = {
  uuid: '019a4f3e-9c1a-7d20-9b1e-5f2a61c0d3d4',
  name: 'Two calls an operator',
  ...exampleDefinition,
  enabled: true,
  by: '019a4f3e-0000-7000-8000-0000000000b1',
  created_at: '2026-10-02T08:00:00.000Z',
  updated_at: '2026-10-02T08:00:00.000Z',
  last_sample: exampleSample,
};
export const SamplingRule = z
  .object({
    uuid: Uuid,
    name: z.string(),
    ...definition,
    enabled: z.boolean(),
    by: Uuid.meta({ description: 'The user who created it.' }),
    created_at: Time,
    updated_at: Time,
    last_sample: Sample.nullable(),
  })
  .meta({ id: 'SamplingRule', examples: [exampleRule] });
export const SamplingRulePage = pageOf(SamplingRule, 'SamplingRulePage', exampleRule);
