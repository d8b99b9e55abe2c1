import { LeasedCall, NextCallRequest, QueueQuery, ReviewQueue } from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import {
  NewSamplingRule,
  SamplePage,
  SamplingRule,
  SamplingRuleChange,
  SamplingRulePage,
} from '@call-analysis/api/sampling';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { readAnswer, requestOf, servedBy, type Services } from '../rpc-caller.ts';

const QUEUE = '/api/v1/review-queue';
const RULES = '/api/v1/sampling-rules';
/** Choosing of a week of a million calls takes some seconds. */
const CHOOSE_MS = 60_000;

/** docs/api.md, "The desk of a team". */
export function reviewQueue({ desk, keyManagement }: Services): Endpoint[] {
  const endpoint = servedBy(desk, { tag: 'Desk', roles: AND_REVIEWERS });
  return [
    endpoint({
      method: 'POST',
      path: `${QUEUE}/next`,
      body: NextCallRequest,
      optionalBody: true,
      id: 'takeNextCall',
      summary: 'Take the next call to review',
      description:
        'Nobody else gets it for 15 minutes, or until its review is done. Whoever has a call gets the same one again, for another 15 minutes. First come calls that are assigned to you, then those with an open dispute of another person, then those of sampling rules, then those with answers to review, the oldest first. Calls that are assigned to others are left to them.',
      responses: {
        200: { description: 'The call.', schema: LeasedCall },
        204: { description: 'No call waits for you.' },
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${QUEUE}/leases/:call_uuid`,
      id: 'releaseLease',
      summary: 'Give a call of the queue back',
      description: 'Somebody else may take it at once.',
      responses: { 204: { description: 'You no longer have it.' } },
    }),
    endpoint({
      method: 'GET',
      path: QUEUE,
      query: QueueQuery,
      id: 'readQueue',
      summary: 'Read the state of the queue',
      description:
        'What waits for you of the calls that you ask for, what is being reviewed, and what each person has finished today.',
      responses: { 200: { description: 'The numbers.', schema: ReviewQueue } },
      async handle(input) {
        const reply = await desk.readQueue(requestOf(input));
        const { done_today, ...numbers } = readAnswer<{ done_today: { user: string; done: number }[] }>(reply);
        const { firmUuid: firm_uuid } = input.caller;
        const people = done_today.length === 0 ? [] : (await keyManagement.listUsers({ firm_uuid })).users;
        const names = new Map(people.map(({ uuid, name }) => [uuid, name]));
        const done = done_today.map(({ user: uuid, done }) => ({
          user: { uuid, name: names.get(uuid) ?? null },
          done,
        }));
        return { body: { ...numbers, done_today: done } };
      },
    }),
  ];
}

/** What puts calls into the queue by chance (docs/api.md, "The desk of a team"). */
export function samplingRules({ desk }: Services): Endpoint[] {
  const endpoint = servedBy(desk, { tag: 'Desk', roles: ['ADMIN'] });
  return [
    endpoint({
      method: 'GET',
      path: RULES,
      query: PageQuery,
      id: 'listSamplingRules',
      summary: 'List sampling rules',
      description: 'Oldest first.',
      responses: { 200: { description: 'A page of rules.', schema: SamplingRulePage } },
    }),
    endpoint({
      method: 'POST',
      path: RULES,
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
      path: `${RULES}/:uuid`,
      id: 'getSamplingRule',
      summary: 'Get a sampling rule',
      responses: { 200: { description: 'The rule.', schema: SamplingRule } },
    }),
    endpoint({
      method: 'PATCH',
      path: `${RULES}/:uuid`,
      body: SamplingRuleChange,
      id: 'changeSamplingRule',
      summary: 'Change a sampling rule',
      description: 'Absent fields do not change; `count` and `share` replace each other. What was chosen before stays.',
      responses: { 200: { description: 'The rule.', schema: SamplingRule } },
      deadlineMs: CHOOSE_MS,
    }),
    endpoint({
      method: 'DELETE',
      path: `${RULES}/:uuid`,
      id: 'deleteSamplingRule',
      summary: 'Delete a sampling rule',
      description: 'The calls that it has chosen are no longer its samples. Disable it to keep them.',
      responses: { 204: { description: 'It is deleted.' } },
      deadlineMs: CHOOSE_MS,
    }),
    endpoint({
      method: 'GET',
      path: `${RULES}/:uuid/samples`,
      query: PageQuery,
      id: 'listSamples',
      summary: 'List the samples of a rule',
      description:
        'Newest first, one a period, each with the seed and the rule that it can be repeated by: within each group, the calls with the lowest SHA-256 of the seed followed by the uuid of the call.',
      responses: { 200: { description: 'A page of samples.', schema: SamplePage } },
    }),
  ];
}
