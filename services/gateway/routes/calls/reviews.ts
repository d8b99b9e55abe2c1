import { CallItem, ShownAnalysis } from '@call-analysis/api/calls';
import { PageQuery } from '@call-analysis/api/fields';
import {
  Agreement,
  AgreementQuery,
  CommentPage,
  CommentSchema,
  ComparedCallPage,
  ComparedQuery,
  NewComment,
  NewReview,
  WholeReview,
} from '@call-analysis/api/people';
import type { ReviewedAnalysis } from '@call-analysis/events';
import type { z } from 'zod';
import { AND_REVIEWERS, type Caller, DEFAULT_ROLES, EVERY_ROLE } from '../../authentication/caller.ts';
import type { Endpoint, HandlerResponse } from '../../http/endpoint.ts';
import { etagOf, IfMatch } from '../../http/request/if-match.ts';
import { requirePeople } from '../firms-and-users/users.ts';
import { type Answer, callerOf, passTo, readAnswer, requestOf, servedBy, type Services } from '../rpc-caller.ts';
import type { AddChoices } from './call-json.ts';

const PATH = '/api/v1/calls/:uuid';
const AGREEMENT = '/api/v1/scorecards/:uuid/agreement';
const etag = { ETag: 'The revision of the review in double quotes, for If-Match.' };

const ifMatch = (description: string) => ({ 'If-Match': { description, schema: IfMatch.optional() } });

/** Reviews of analyses, their agreement with the machine, and comments (docs/api.md, "People's judgement"). */
export function reviews(
  { ingest: catalogue, analysis: scorecards, keyManagement: keys }: Services,
  addChoices: AddChoices,
): Endpoint[] {
  const reviewed = async (caller: Caller, reply: Answer): Promise<HandlerResponse> => {
    const analysis = readAnswer<ReviewedAnalysis>(reply);
    const { review } = analysis;
    const [body] = await addChoices(caller, [analysis]);
    return { ...(review !== null && { headers: { etag: etagOf(review.revision) } }), body };
  };
  const endpoint = servedBy(catalogue, { tag: 'Reviews', roles: AND_REVIEWERS });
  return [
    endpoint({
      method: 'GET',
      path: `${PATH}/review`,
      roles: EVERY_ROLE,
      id: 'getReview',
      summary: 'Get the review of a call',
      description: 'What people answered, and who gave which answer. 404 when the current analysis has no review.',
      responses: { 200: { description: 'The review.', schema: WholeReview, headers: etag } },
      async handle(input) {
        const body = readAnswer<z.output<typeof WholeReview>>(await catalogue.readReview(requestOf(input)));
        return { headers: { etag: etagOf(body.revision) }, body };
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${PATH}/review`,
      body: NewReview,
      id: 'reviewCall',
      summary: 'Review a call',
      description:
        'Replaces an earlier review of the analysis. Answers that you do not name stay as the machine gave them. The score is added up anew. A review with answers of another person is replaced only with If-Match.',
      responses: { 200: { description: 'The analysis with the review.', schema: ShownAnalysis, headers: etag } },
      errors: ['ANALYSIS_CHANGED', 'REVIEW_CHANGED', 'IF_MATCH_REQUIRED'],
      headers: ifMatch('The revision of the review that you read. If it was changed since, the request is refused.'),
      handle: async (input) => reviewed(input.caller, await catalogue.reviewAnalysis(requestOf(input))),
    }),
    endpoint({
      method: 'PATCH',
      path: `${PATH}/review`,
      body: NewReview,
      id: 'changeReview',
      summary: 'Change answers of a review',
      description:
        'Changes the answers that you name and keeps all others, also those of other people; begins a review where there is none. `comment` and `done` stay as they are when you leave them out.',
      responses: { 200: { description: 'The analysis with the review.', schema: ShownAnalysis, headers: etag } },
      errors: ['ANALYSIS_CHANGED', 'REVIEW_CHANGED', 'IF_MATCH_REQUIRED'],
      headers: ifMatch(
        'The revision of the review that you read. If another person has since changed an answer that you name, the request is refused. Without it, it is refused if another person has given such an answer.',
      ),
      handle: async (input) => reviewed(input.caller, await catalogue.changeReview(requestOf(input))),
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/review`,
      id: 'withdrawReview',
      summary: 'Withdraw a review',
      description: "The machine's answers count again. 404 when the current analysis has no review.",
      responses: { 200: { description: 'The analysis without the review.', schema: ShownAnalysis } },
      errors: ['REVIEW_CHANGED'],
      headers: ifMatch('The revision of the review that you read. If it was changed since, the request is refused.'),
      handle: async (input) => reviewed(input.caller, await catalogue.withdrawReview(requestOf(input))),
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/swap-channels`,
      roles: DEFAULT_ROLES,
      tag: 'Calls',
      id: 'swapChannels',
      summary: 'Swap operator and client',
      description: 'For a recording whose channels were named the wrong way round. The call is analyzed again.',
      responses: { 202: { description: 'The call, in analysis.', schema: CallItem } },
      errors: ['INVALID_TRANSITION'],
    }),
    endpoint({
      method: 'GET',
      path: AGREEMENT,
      query: AgreementQuery,
      id: 'getAgreement',
      summary: 'Get the agreement of people with the machine',
      description:
        "Compares the answers of reviews with those of the machine. An answer that a review with `done` leaves unnamed counts as agreed; a question that the machine left open does not count. `kappa` is Cohen's.",
      responses: { 200: { description: 'The agreement by question.', schema: Agreement } },
      async handle(input) {
        const { caller, params, query } = input;
        const { revision } = query;
        // An unknown scorecard is NOT_FOUND, not an empty result.
        await scorecards.getScorecard({
          caller: callerOf(caller),
          scorecard_uuid: params.uuid,
          ...(revision !== undefined && { revision }),
        });
        return passTo(catalogue, 'measureAgreement')(input);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${AGREEMENT}/calls`,
      query: ComparedQuery,
      id: 'listComparedCalls',
      summary: 'List the calls behind an agreement',
      description:
        'The calls whose answers to a question the agreement compares, those that started last first. The other parameters are those of the agreement.',
      responses: { 200: { description: 'A page of calls.', schema: ComparedCallPage } },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/comments`,
      body: NewComment,
      id: 'addComment',
      summary: 'Comment on a call',
      description: 'On the whole call, or on one utterance of it.',
      responses: { 201: { description: 'The comment.', schema: CommentSchema } },
      async handle(input) {
        await requirePeople(keys, input.caller, { mentions: input.body.mentions ?? [] });
        return passTo(catalogue, 'addComment')(input);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/comments`,
      query: PageQuery,
      id: 'listComments',
      summary: 'List the comments on a call',
      description: 'Oldest first.',
      responses: { 200: { description: 'A page of comments.', schema: CommentPage } },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/comments/:comment_uuid`,
      id: 'deleteComment',
      summary: 'Delete a comment',
      description: 'Your own; an ADMIN may delete those of others.',
      responses: { 204: { description: 'It is deleted.' } },
    }),
  ];
}
