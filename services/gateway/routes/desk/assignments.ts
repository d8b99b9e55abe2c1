import { Acknowledgement, Assignment, CallDesk, NewAssignment } from '@call-analysis/api/desk';
import type { desk, keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { AND_OPERATORS, AND_REVIEWERS, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { requirePeople } from '../firms-and-users/people.ts';
import { passTo } from '../rpc-caller.ts';

const tag = 'Desk';

/** docs/api.md, "The desk of a team". */
export function assignments(
  team: Pick<Client<typeof desk>, 'assignCall' | 'acknowledgeReview' | 'readCallDesk'>,
  keys: Pick<Client<typeof keyManagement>, 'findUser'>,
): Endpoint[] {
  return [
    endpoint({
      method: 'PUT',
      path: '/api/v1/calls/:uuid/assignment',
      roles: AND_REVIEWERS,
      body: NewAssignment,
      tag,
      id: 'assignCall',
      summary: 'Assign a call',
      description: 'Makes its review the task of a user. An ADMIN assigns to anybody, others to themselves.',
      responses: { 200: { description: 'The assignment.', schema: Assignment } },
      async handle(input) {
        await requirePeople(keys, input.caller, { user_uuid: input.body.user_uuid });
        return passTo(team, 'assignCall')(input);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/api/v1/calls/:uuid/desk',
      roles: EVERY_ROLE,
      tag,
      id: 'readCallDesk',
      summary: 'Read whose task a call is, and what is disputed',
      responses: { 200: { description: 'What people have to do with the call.', schema: CallDesk } },
      handle: passTo(team, 'readCallDesk'),
    }),
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/:uuid/acknowledge',
      roles: AND_OPERATORS,
      tag,
      id: 'acknowledgeReview',
      summary: 'Acknowledge a review',
      description: 'Notes that you have read the review of the call. 200 also when that was noted before.',
      responses: { 200: { description: 'Who acknowledged it, and when.', schema: Acknowledgement } },
      errors: ['INVALID_TRANSITION'],
      handle: passTo(team, 'acknowledgeReview'),
    }),
  ];
}
