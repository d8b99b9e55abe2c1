import { LeasedCall, NextCallRequest, QueueQuery, ReviewQueue } from '@call-analysis/api/desk';
import type { desk, keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { passTo, readAnswer, requestOf } from '../rpc-caller.ts';

const PATH = '/api/v1/review-queue';
const tag = 'Desk';
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
      body: NextCallRequest,
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
      handle: passTo(team, 'takeNextCall'),
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
      handle: passTo(team, 'releaseLease'),
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      roles: AND_REVIEWERS,
      query: QueueQuery,
      tag,
      id: 'readQueue',
      summary: 'Read the state of the queue',
      description:
        'What waits for you of the calls that you ask for, what is being reviewed, and what each person has finished today.',
      responses: { 200: { description: 'The numbers.', schema: ReviewQueue } },
      async handle(input) {
        const reply = await team.readQueue(requestOf(input));
        const { done_today, ...numbers } = readAnswer<{ done_today: { user: string; done: number }[] }>(reply);
        const { firmUuid: firm_uuid } = input.caller;
        const people = done_today.length === 0 ? [] : (await keys.listUsers({ firm_uuid })).users;
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
