import { Dispute, DisputeDecision, DisputePage, DisputeQuery, NewDispute } from '@call-analysis/api/desk';
import type { desk } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { AND_REVIEWERS, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { passTo } from '../rpc-caller.ts';

const PATH = '/api/v1/disputes';
const tag = 'Desk';
/** docs/api.md, "The desk of a team". */
export function disputes(
  team: Pick<Client<typeof desk>, 'disputeAnswer' | 'listDisputes' | 'decideDispute'>,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/api/v1/calls/:uuid/disputes',
      roles: EVERY_ROLE,
      body: NewDispute,
      tag,
      id: 'disputeAnswer',
      summary: 'Dispute an answer',
      description: 'Of the current analysis of the call, with its review. One dispute of a question is open at a time.',
      responses: { 201: { description: 'The dispute.', schema: Dispute } },
      errors: ['DISPUTE_EXISTS'],
      handle: passTo(team, 'disputeAnswer'),
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      roles: EVERY_ROLE,
      query: DisputeQuery,
      tag,
      id: 'listDisputes',
      summary: 'List disputes',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of disputes.', schema: DisputePage } },
      handle: passTo(team, 'listDisputes'),
    }),
    endpoint({
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      roles: AND_REVIEWERS,
      body: DisputeDecision,
      tag,
      id: 'decideDispute',
      summary: 'Decide a dispute',
      description: 'An accepted dispute with an answer changes the review of the call, and its score.',
      responses: { 200: { description: 'The dispute.', schema: Dispute } },
      errors: ['INVALID_TRANSITION', 'ANALYSIS_CHANGED'],
      handle: passTo(team, 'decideDispute'),
    }),
  ];
}
