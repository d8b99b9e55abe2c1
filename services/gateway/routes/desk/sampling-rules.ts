import { PageQuery } from '@call-analysis/api/fields';
import {
  NewSamplingRule,
  SamplePage,
  SamplingRule,
  SamplingRuleChange,
  SamplingRulePage,
} from '@call-analysis/api/sampling';
import type { desk } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { passTo } from '../rpc-caller.ts';

const PATH = '/api/v1/sampling-rules';
const tag = 'Desk';
const access = { credentials: 'bearer', roles: ['ADMIN'] } as const;
/** Choosing of a week of a million calls takes some seconds. */
const CHOOSE_MS = 60_000;

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
      query: PageQuery,
      tag,
      id: 'listSamplingRules',
      summary: 'List sampling rules',
      description: 'Oldest first.',
      responses: { 200: { description: 'A page of rules.', schema: SamplingRulePage } },
      handle: passTo(team, 'listSamplingRules'),
    }),
    endpoint({
      ...access,
      method: 'POST',
      path: PATH,
      body: NewSamplingRule,
      tag,
      id: 'createSamplingRule',
      summary: 'Create a sampling rule',
      description:
        'Chooses calls for a review by chance, among those that were completed in a day or a week, when it has ended. An enabled rule chooses of the last period at once.',
      responses: { 201: { description: 'The rule.', schema: SamplingRule } },
      errors: ['TOO_MANY_RULES'],
      handle: passTo(team, 'createSamplingRule', { deadlineMs: CHOOSE_MS }),
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid`,
      tag,
      id: 'getSamplingRule',
      summary: 'Get a sampling rule',
      responses: { 200: { description: 'The rule.', schema: SamplingRule } },
      handle: passTo(team, 'getSamplingRule'),
    }),
    endpoint({
      ...access,
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: SamplingRuleChange,
      tag,
      id: 'changeSamplingRule',
      summary: 'Change a sampling rule',
      description: 'Absent fields do not change; `count` and `share` replace each other. What was chosen before stays.',
      responses: { 200: { description: 'The rule.', schema: SamplingRule } },
      handle: passTo(team, 'changeSamplingRule', { deadlineMs: CHOOSE_MS }),
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
      handle: passTo(team, 'deleteSamplingRule', { deadlineMs: CHOOSE_MS }),
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid/samples`,
      query: PageQuery,
      tag,
      id: 'listSamples',
      summary: 'List the samples of a rule',
      description:
        'Newest first, one a period, each with the seed and the rule that it can be repeated by: within each group, the calls with the lowest SHA-256 of the seed followed by the uuid of the call.',
      responses: { 200: { description: 'A page of samples.', schema: SamplePage } },
      handle: passTo(team, 'listSamples'),
    }),
  ];
}
