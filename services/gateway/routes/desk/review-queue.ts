import { CallFilter, rangesInOrder } from '@call-analysis/api/call-query';
import { LeasedCall, ReviewQueue } from '@call-analysis/api/desk';
import { Uuid } from '@call-analysis/events';
import type { desk, keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { FilterInBody, filterDescription, filterFor } from '../calls/calls.ts';
import { answered, callerOf } from './desk-caller.ts';

const PATH = '/api/v1/review-queue';
const tag = 'Desk';
/** More than a person puts off in a day. */
const MOST_SKIPPED = 1000;

const rule_uuid = Uuid.optional().meta({ description: 'Only calls that this sampling rule has chosen.' });

const Counted = rangesInOrder(z.strictObject({ ...CallFilter.shape, rule_uuid }));

const Wanted = z
  .strictObject({
    filter: FilterInBody.optional().meta({ documentedAs: { type: 'object', description: filterDescription } }),
    rule_uuid,
    skip: z
      .array(Uuid)
      .max(MOST_SKIPPED)
      .default([])
      .meta({ description: 'Calls that you do not want now. If you have one of them, it is given back.' }),
  })
  .meta({ id: 'TakeNextCallRequest', examples: [{ filter: { segment_type: ['support'] } }] });

/** docs/api.md, "The desk of a team". */
export function reviewQueue(
  team: Pick<Client<typeof desk>, 'takeNextCall' | 'releaseLease' | 'readQueue'>,
  keys: Pick<Client<typeof keyManagement>, 'listUsers'>,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: `${PATH}/next`,
      roles: AND_REVIEWERS,
      body: Wanted,
      optionalBody: true,
      tag,
      id: 'takeNextCall',
      summary: 'Take the next call to review',
      description:
        'Nobody else gets it for 15 minutes, or until its review is done. Whoever has a call gets the same one again, for another 15 minutes. First come calls that are assigned to you, then those with an open dispute of another person, then those of sampling rules, then those with answers to review, the oldest first. Calls that are assigned to others are left to them.',
      responses: {
        200: { description: 'The call.', schema: LeasedCall },
        204: { description: 'No call waits for you.' },
      },
      handle: async ({ caller, body: { filter, rule_uuid, skip }, address }) => {
        const reply = await team.takeNextCall({
          caller: callerOf(caller, address),
          ...(filter !== undefined && { filter: filterFor(caller, filter) }),
          ...(rule_uuid !== undefined && { rule_uuid }),
          skip,
        });
        return reply.json === 'null' ? { status: 204 } : answered(reply);
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/leases/:call_uuid`,
      roles: AND_REVIEWERS,
      tag,
      id: 'releaseLease',
      summary: 'Give a call of the queue back',
      description: 'Somebody else may take it at once.',
      responses: { 204: { description: 'You no longer have it.' } },
      handle: async ({ caller, params, address }) => {
        const call_uuid = params.call_uuid;
        await team.releaseLease({ caller: callerOf(caller, address), call_uuid });
        return { status: 204 };
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      roles: AND_REVIEWERS,
      query: Counted,
      tag,
      id: 'readQueue',
      summary: 'Read the state of the queue',
      description:
        'What waits for you of the calls that you ask for, what is being reviewed, and what each person has finished today.',
      responses: { 200: { description: 'The numbers.', schema: ReviewQueue } },
      handle: async ({ caller, query: { rule_uuid, ...filter }, address }) => {
        const { json } = await team.readQueue({
          caller: callerOf(caller, address),
          filter: filterFor(caller, filter),
          ...(rule_uuid !== undefined && { rule_uuid }),
        });
        const { done_today, ...numbers } = JSON.parse(json) as { done_today: { user: string; done: number }[] };
        const people = done_today.length === 0 ? [] : (await keys.listUsers({ firm_uuid: caller.firmUuid })).users;
        const names = new Map(people.map(({ uuid, name }) => [uuid, name]));
        const done = done_today.map(({ user: uuid, done }) => ({
          user: { uuid, name: names.get(uuid) ?? null },
          done,
        }));
        return { status: 200, body: { ...numbers, done_today: done } };
      },
    }),
  ];
}
