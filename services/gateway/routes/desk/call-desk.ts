import {
  Acknowledgement,
  Assignment,
  CallDesk,
  Dispute,
  DisputeDecision,
  DisputePage,
  DisputeQuery,
  InboxPage,
  NewAssignment,
  NewDispute,
} from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import { AND_OPERATORS, AND_REVIEWERS, EVERY_ROLE } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { requirePeople } from '../firms-and-users/users.ts';
import { passTo, servedBy, type Services } from '../rpc-caller.ts';

const DISPUTES = '/api/v1/disputes';

/** Whose task a call is, the disputes of its answers, and what waits for a person (docs/api.md, "The desk of a team"). */
export function callDesk({ desk, keyManagement }: Services): Endpoint[] {
  const endpoint = servedBy(desk, { tag: 'Desk', roles: EVERY_ROLE });
  return [
    endpoint({
      method: 'PUT',
      path: '/api/v1/calls/:uuid/assignment',
      roles: AND_REVIEWERS,
      body: NewAssignment,
      id: 'assignCall',
      summary: 'Assign a call',
      description: 'Makes its review the task of a user. An ADMIN assigns to anybody, others to themselves.',
      responses: { 200: { description: 'The assignment.', schema: Assignment } },
      async handle(input) {
        await requirePeople(keyManagement, input.caller, { user_uuid: input.body.user_uuid });
        return passTo(desk, 'assignCall')(input);
      },
    }),
    endpoint({
      method: 'GET',
      path: '/api/v1/calls/:uuid/desk',
      id: 'readCallDesk',
      summary: 'Read whose task a call is, and what is disputed',
      responses: { 200: { description: 'What people have to do with the call.', schema: CallDesk } },
    }),
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/:uuid/acknowledge',
      roles: AND_OPERATORS,
      id: 'acknowledgeReview',
      summary: 'Acknowledge a review',
      description: 'Notes that you have read the review of the call. 200 also when that was noted before.',
      responses: { 200: { description: 'Who acknowledged it, and when.', schema: Acknowledgement } },
      errors: ['INVALID_TRANSITION'],
    }),
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/:uuid/disputes',
      body: NewDispute,
      id: 'disputeAnswer',
      summary: 'Dispute an answer',
      description: 'Of the current analysis of the call, with its review. One dispute of a question is open at a time.',
      responses: { 201: { description: 'The dispute.', schema: Dispute } },
      errors: ['DISPUTE_EXISTS'],
    }),
    endpoint({
      method: 'GET',
      path: DISPUTES,
      query: DisputeQuery,
      id: 'listDisputes',
      summary: 'List disputes',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of disputes.', schema: DisputePage } },
    }),
    endpoint({
      method: 'PATCH',
      path: `${DISPUTES}/:uuid`,
      roles: AND_REVIEWERS,
      body: DisputeDecision,
      id: 'decideDispute',
      summary: 'Decide a dispute',
      description: 'An accepted dispute with an answer changes the review of the call, and its score.',
      responses: { 200: { description: 'The dispute.', schema: Dispute } },
      errors: ['INVALID_TRANSITION', 'ANALYSIS_CHANGED'],
    }),
    endpoint({
      method: 'GET',
      path: '/api/v1/inbox',
      query: PageQuery,
      id: 'readInbox',
      summary: 'List what waits for you',
      description:
        'Newest first: comments that mention you, until you comment on the call or put the mention away; calls that are assigned to you, until they are reviewed; open disputes of others; calibrations, until you have answered.',
      responses: { 200: { description: 'A page of items.', schema: InboxPage } },
    }),
    endpoint({
      method: 'DELETE',
      path: '/api/v1/inbox/mentions/:comment_uuid',
      id: 'putMentionAway',
      summary: 'Put a mention away',
      description: 'A comment that mentions you no longer waits for you. The comment stays.',
      responses: { 204: { description: 'It no longer waits for you.' } },
    }),
  ];
}
