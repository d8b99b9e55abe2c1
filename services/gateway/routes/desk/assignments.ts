import { Acknowledgement, Assignment, CallDesk } from '@call-analysis/api/desk';
import { instant } from '@call-analysis/api/fields';
import { Uuid } from '@call-analysis/events';
import type { desk, keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_OPERATORS, AND_REVIEWERS, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { requirePeople } from '../firms-and-users/people.ts';
import { answered, callerOf } from './desk-caller.ts';

const tag = 'Desk';

const NewAssignment = z
  .strictObject({
    user_uuid: Uuid.nullable().meta({ description: 'Null: to nobody.' }),
    due: instant().optional().meta({ description: 'When the review should be there.' }),
  })
  .meta({
    id: 'AssignCallRequest',
    examples: [{ user_uuid: '019a4f3e-0000-7000-8000-0000000000b1', due: '2026-10-09T12:00:00Z' }],
  });

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
      handle: async ({ caller, params, body: { user_uuid, due }, address }) => {
        const call_uuid = params.uuid;
        await requirePeople(keys, caller, { user_uuid });
        return answered(
          await team.assignCall({
            caller: callerOf(caller, address),
            call_uuid,
            ...(user_uuid !== null && { user_uuid }),
            ...(due !== undefined && { due }),
          }),
        );
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
      handle: async ({ caller, params, address }) => {
        const call_uuid = params.uuid;
        return answered(await team.readCallDesk({ caller: callerOf(caller, address), call_uuid }));
      },
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
      handle: async ({ caller, params, address }) => {
        const call_uuid = params.uuid;
        return answered(await team.acknowledgeReview({ caller: callerOf(caller, address), call_uuid }));
      },
    }),
  ];
}
