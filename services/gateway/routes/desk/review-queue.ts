import { LeasedCall, NextCallRequest, QueueQuery, ReviewQueue } from '@call-analysis/api/desk';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { readAnswer, requestOf, servedBy, type Services } from '../rpc-caller.ts';

const PATH = '/api/v1/review-queue';
/** docs/api.md, "The desk of a team". */
export function reviewQueue({ desk, keyManagement }: Services): Endpoint[] {
  const endpoint = servedBy(desk, { tag: 'Desk', roles: AND_REVIEWERS });
  return [
    endpoint({
      method: 'POST',
      path: `${PATH}/next`,
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
      path: `${PATH}/leases/:call_uuid`,
      id: 'releaseLease',
      summary: 'Give a call of the queue back',
      description: 'Somebody else may take it at once.',
      responses: { 204: { description: 'You no longer have it.' } },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
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
