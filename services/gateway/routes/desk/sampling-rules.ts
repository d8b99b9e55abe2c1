import { PageQuery } from '@call-analysis/api/fields';
import {
  NewSamplingRule,
  SamplePage,
  SamplingRule,
  SamplingRuleChange,
  SamplingRulePage,
} from '@call-analysis/api/sampling';
import type { Endpoint } from '../../http/endpoint.ts';
import { servedBy, type Services } from '../rpc-caller.ts';

const PATH = '/api/v1/sampling-rules';
/** Choosing of a week of a million calls takes some seconds. */
const CHOOSE_MS = 60_000;

/** docs/api.md, "The desk of a team". */
export function samplingRules({ desk }: Services): Endpoint[] {
  const endpoint = servedBy(desk, { tag: 'Desk', roles: ['ADMIN'] });
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      query: PageQuery,
      id: 'listSamplingRules',
      summary: 'List sampling rules',
      description: 'Oldest first.',
      responses: { 200: { description: 'A page of rules.', schema: SamplingRulePage } },
    }),
    endpoint({
      method: 'POST',
      path: PATH,
      body: NewSamplingRule,
      id: 'createSamplingRule',
      summary: 'Create a sampling rule',
      description:
        'Chooses calls for a review by chance, among those that were completed in a day or a week, when it has ended. An enabled rule chooses of the last period at once.',
      responses: { 201: { description: 'The rule.', schema: SamplingRule } },
      errors: ['TOO_MANY_RULES'],
      deadlineMs: CHOOSE_MS,
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      id: 'getSamplingRule',
      summary: 'Get a sampling rule',
      responses: { 200: { description: 'The rule.', schema: SamplingRule } },
    }),
    endpoint({
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: SamplingRuleChange,
      id: 'changeSamplingRule',
      summary: 'Change a sampling rule',
      description: 'Absent fields do not change; `count` and `share` replace each other. What was chosen before stays.',
      responses: { 200: { description: 'The rule.', schema: SamplingRule } },
      deadlineMs: CHOOSE_MS,
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      id: 'deleteSamplingRule',
      summary: 'Delete a sampling rule',
      description: 'The calls that it has chosen are no longer its samples. Disable it to keep them.',
      responses: { 204: { description: 'It is deleted.' } },
      deadlineMs: CHOOSE_MS,
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid/samples`,
      query: PageQuery,
      id: 'listSamples',
      summary: 'List the samples of a rule',
      description:
        'Newest first, one a period, each with the seed and the rule that it can be repeated by: within each group, the calls with the lowest SHA-256 of the seed followed by the uuid of the call.',
      responses: { 200: { description: 'A page of samples.', schema: SamplePage } },
    }),
  ];
}
