import { CallItem, ShownAnalysis } from '@call-analysis/api/calls';
import { NewReview, WholeReview } from '@call-analysis/api/people';
import type { ReviewedAnalysis } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import type { z } from 'zod';
import { AND_REVIEWERS, type Caller, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint, type HandlerResponse } from '../../http/endpoint.ts';
import { etagOf, IfMatch } from '../../http/request/if-match.ts';
import { type Answer, passTo, readAnswer, requestOf } from '../rpc-caller.ts';
import type { AddChoices } from './answer-choices.ts';

const PATH = '/api/v1/calls/:uuid';
const etag = { ETag: 'The revision of the review in double quotes, for If-Match.' };

const ifMatch = (description: string) => ({ 'If-Match': { description, schema: IfMatch.optional() } });

/** Reviews of analyses, and what follows from them (docs/api.md, "People's judgement"). */
export function reviews(
  catalogue: Pick<
    Client<typeof ingest>,
    'reviewAnalysis' | 'changeReview' | 'readReview' | 'withdrawReview' | 'swapChannels'
  >,
  addChoices: AddChoices,
): Endpoint[] {
  const reviewed = async (caller: Caller, reply: Answer): Promise<HandlerResponse> => {
    const analysis = readAnswer<ReviewedAnalysis>(reply);
    const { review } = analysis;
    const [body] = await addChoices(caller, [analysis]);
    return { ...(review !== null && { headers: { etag: etagOf(review.revision) } }), body };
  };
  return [
    endpoint({
      method: 'GET',
      path: `${PATH}/review`,
      roles: EVERY_ROLE,
      tag: 'Reviews',
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
      roles: AND_REVIEWERS,
      body: NewReview,
      tag: 'Reviews',
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
      roles: AND_REVIEWERS,
      body: NewReview,
      tag: 'Reviews',
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
      roles: AND_REVIEWERS,
      tag: 'Reviews',
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
      tag: 'Calls',
      id: 'swapChannels',
      summary: 'Swap operator and client',
      description: 'For a recording whose channels were named the wrong way round. The call is analyzed again.',
      responses: { 202: { description: 'The call, in analysis.', schema: CallItem } },
      errors: ['INVALID_TRANSITION'],
      handle: passTo(catalogue, 'swapChannels'),
    }),
  ];
}
