import { Dispute, DisputePage, DisputeStatus } from '@call-analysis/api/desk';
import { anyOf, page, size, text, written } from '@call-analysis/api/fields';
import { Uuid } from '@call-analysis/events';
import type { desk } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_REVIEWERS, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { answered, callerOf } from './desk-caller.ts';

const PATH = '/api/v1/disputes';
const tag = 'Desk';
const MAX_CHARS = 5_000;
const MAX_LABEL_CHARS = 255;

const NewDispute = z.strictObject({ question_uuid: Uuid, reason: written(MAX_CHARS) }).meta({
  id: 'DisputeAnswerRequest',
  examples: [
    { question_uuid: '019a4f3e-0000-7000-8000-000000000011', reason: 'The client had named the price before.' },
  ],
});

const Decision = z
  .strictObject({
    status: z.enum(['accepted', 'rejected']),
    answer: text(MAX_LABEL_CHARS)
      .nullable()
      .optional()
      .meta({ description: 'The right label, or null where the question does not apply: it changes the review.' }),
    comment: written(MAX_CHARS),
  })
  .refine(({ status, answer }) => status === 'accepted' || answer === undefined, {
    when: () => true,
    path: ['answer'],
    error: 'belongs to an accepted dispute alone',
  })
  .meta({ id: 'DecideDisputeRequest', examples: [{ status: 'accepted', answer: 'yes', comment: 'You are right.' }] });

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
      handle: async ({ caller, params, body, address }) => {
        const call_uuid = params.uuid;
        return answered(await team.disputeAnswer({ caller: callerOf(caller, address), call_uuid, ...body }), 201);
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      roles: EVERY_ROLE,
      query: z.strictObject({ status: anyOf(DisputeStatus), page, size }),
      tag,
      id: 'listDisputes',
      summary: 'List disputes',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of disputes.', schema: DisputePage } },
      handle: async ({ caller, query: { status, ...rest }, address }) =>
        answered(await team.listDisputes({ caller: callerOf(caller, address), status, page: rest })),
    }),
    endpoint({
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      roles: AND_REVIEWERS,
      body: Decision,
      tag,
      id: 'decideDispute',
      summary: 'Decide a dispute',
      description: 'An accepted dispute with an answer changes the review of the call, and its score.',
      responses: { 200: { description: 'The dispute.', schema: Dispute } },
      errors: ['INVALID_TRANSITION', 'ANALYSIS_CHANGED'],
      handle: async ({ caller, params, body: { status, answer, comment }, address }) =>
        answered(
          await team.decideDispute({
            caller: callerOf(caller, address),
            dispute_uuid: params.uuid,
            status,
            changes_answer: answer !== undefined,
            ...(typeof answer === 'string' && { answer }),
            comment,
          }),
        ),
    }),
  ];
}
