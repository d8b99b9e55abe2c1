import { name, page, size } from '@call-analysis/api/fields';
import { SamplePage, SamplingRule, SamplingRulePage } from '@call-analysis/api/sampling';
import type { desk } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import type { Caller } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { filterFor, FilterInBody } from '../calls/calls.ts';
import { answered, callerOf } from './desk-caller.ts';
import { SavedFilter } from './saved-query.ts';

const PATH = '/api/v1/sampling-rules';
const tag = 'Desk';
const access = { credentials: 'bearer', roles: ['ADMIN'] } as const;
const MAX_COUNT = 100_000;
/** Choosing of a week of a million calls takes some seconds. */
const CHOOSE_MS = 60_000;

const always = { when: () => true };
const fields = {
  name: name(255),
  filter: SavedFilter,
  per: z.enum(['operator', 'operator_group_name', 'segment_type', 'firm']).meta({
    description: 'Of each of these the sample has calls. An operator is known by `operator_id`, otherwise by name.',
  }),
  count: z
    .int()
    .min(1)
    .max(MAX_COUNT)
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
const onlyOne = { ...always, path: ['share'], error: 'takes the place of count; leave one out' };
const NewRule = z
  .strictObject(fields)
  .refine(({ count, share }) => count === undefined || share === undefined, onlyOne)
  .refine(({ count, share }) => count !== undefined || share !== undefined, {
    ...always,
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
const Change = z
  .strictObject(fields)
  .partial()
  .refine(({ count, share }) => count === undefined || share === undefined, onlyOne)
  .meta({ id: 'ChangeSamplingRuleRequest', examples: [{ enabled: false }] });

type Team = Pick<
  Client<typeof desk>,
  | 'listSamplingRules'
  | 'getSamplingRule'
  | 'createSamplingRule'
  | 'changeSamplingRule'
  | 'deleteSamplingRule'
  | 'listSamples'
>;

/** docs/api.md, "The desk of a team". */
export function samplingRules(team: Team): Endpoint[] {
  return [
    endpoint({
      ...access,
      method: 'GET',
      path: PATH,
      query: z.strictObject({ page, size }),
      tag,
      id: 'listSamplingRules',
      summary: 'List sampling rules',
      description: 'Oldest first.',
      responses: { 200: { description: 'A page of rules.', schema: SamplingRulePage } },
      handle: async ({ caller, query, address }) =>
        answered(await team.listSamplingRules({ caller: callerOf(caller, address), page: query })),
    }),
    endpoint({
      ...access,
      method: 'POST',
      path: PATH,
      body: NewRule,
      tag,
      id: 'createSamplingRule',
      summary: 'Create a sampling rule',
      description:
        'Chooses calls for a review by chance, among those that were completed in a day or a week, when it has ended. An enabled rule chooses of the last period at once.',
      responses: { 201: { description: 'The rule.', schema: SamplingRule } },
      errors: ['TOO_MANY_RULES'],
      handle: async ({ caller, body: { enabled = true, ...body }, address }) =>
        answered(
          await team.createSamplingRule(
            { caller: callerOf(caller, address), fields: fieldsOf(caller, { ...body, enabled }) },
            { deadlineMs: CHOOSE_MS },
          ),
          201,
        ),
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid`,
      tag,
      id: 'getSamplingRule',
      summary: 'Get a sampling rule',
      responses: { 200: { description: 'The rule.', schema: SamplingRule } },
      handle: async ({ caller, params, address }) =>
        answered(await team.getSamplingRule({ caller: callerOf(caller, address), rule_uuid: params.uuid })),
    }),
    endpoint({
      ...access,
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: Change,
      tag,
      id: 'changeSamplingRule',
      summary: 'Change a sampling rule',
      description: 'Absent fields do not change; `count` and `share` replace each other. What was chosen before stays.',
      responses: { 200: { description: 'The rule.', schema: SamplingRule } },
      handle: async ({ caller, params, body, address }) =>
        answered(
          await team.changeSamplingRule(
            { caller: callerOf(caller, address), rule_uuid: params.uuid, fields: fieldsOf(caller, body) },
            { deadlineMs: CHOOSE_MS },
          ),
        ),
    }),
    endpoint({
      ...access,
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      tag,
      id: 'deleteSamplingRule',
      summary: 'Delete a sampling rule',
      description: 'The calls that it has chosen are no longer its samples. Disable it to keep them.',
      responses: { 204: { description: 'It is deleted.' } },
      handle: async ({ caller, params, address }) => {
        const request = { caller: callerOf(caller, address), rule_uuid: params.uuid };
        await team.deleteSamplingRule(request, { deadlineMs: CHOOSE_MS });
        return { status: 204 };
      },
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid/samples`,
      query: z.strictObject({ page, size }),
      tag,
      id: 'listSamples',
      summary: 'List the samples of a rule',
      description:
        'Newest first, one a period, each with the seed and the rule that it can be repeated by: within each group, the calls with the lowest SHA-256 of the seed followed by the uuid of the call.',
      responses: { 200: { description: 'A page of samples.', schema: SamplePage } },
      handle: async ({ caller, params, query, address }) =>
        answered(await team.listSamples({ caller: callerOf(caller, address), rule_uuid: params.uuid, page: query })),
    }),
  ];
}

function fieldsOf(caller: Caller, { filter, ...rest }: z.output<typeof Change>) {
  if (filter === undefined) return rest;
  return { ...rest, filter_json: JSON.stringify(filter), filter: filterFor(caller, FilterInBody.parse(filter)) };
}
