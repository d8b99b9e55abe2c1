import { CallItem, ShownAnalysis } from '@call-analysis/api/calls';
import { text, written } from '@call-analysis/api/fields';
import { WholeReview } from '@call-analysis/api/people';
import { type ReviewedAnalysis, Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_REVIEWERS, type Caller, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { JsonResponse } from '../../http/response/send.ts';
import { etagOf, IfMatch, revisionInIfMatch } from '../if-match.ts';
import { actorOf, answered, readAnswer } from '../rpc-caller.ts';
import type { AddChoices } from './answer-choices.ts';

const PATH = '/api/v1/calls/:uuid';
const MAX_LABEL_CHARS = 255;
const MAX_COMMENT_CHARS = 5_000;
const MAX_ANSWERS = 1_000;

const ReviewBody = z
  .strictObject({
    analysis_uuid: Uuid,
    answers: z
      .array(
        z
          .strictObject({
            question_uuid: Uuid,
            answer: text(MAX_LABEL_CHARS)
              .nullable()
              .meta({ description: 'A label of the question, or null where it does not apply.' }),
            comment: written(MAX_COMMENT_CHARS).optional(),
          })
          .meta({ id: 'ReviewAnswer' }),
      )
      .max(MAX_ANSWERS),
    comment: written(MAX_COMMENT_CHARS).optional(),
    done: z
      .boolean()
      .optional()
      .meta({ description: 'True: you have checked every answer. Answers that you do not name count as agreed.' }),
  })
  .meta({
    examples: [
      {
        analysis_uuid: '019a4f3e-7d00-7aa1-8c11-0d9e4f6a7b03',
        answers: [
          { question_uuid: '019a4f3e-0000-7000-8000-000000000011', answer: 'no', comment: 'She began without.' },
        ],
        done: true,
      },
    ],
  });

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
  const reviewed = async (caller: Caller, analysisJson: string): Promise<JsonResponse> => {
    const analysis = JSON.parse(analysisJson) as ReviewedAnalysis;
    const { review } = analysis;
    const [body] = await addChoices(caller, [analysis]);
    return { status: 200, ...(review !== null && { headers: { etag: etagOf(review.revision) } }), body };
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
      async handle({ caller, params, address }) {
        const call_uuid = params.uuid;
        const reply = await catalogue.readReview({ caller: actorOf(caller, address), call_uuid });
        const body = readAnswer<z.output<typeof WholeReview>>(reply);
        return { status: 200, headers: { etag: etagOf(body.revision) }, body };
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${PATH}/review`,
      roles: AND_REVIEWERS,
      body: ReviewBody,
      tag: 'Reviews',
      id: 'reviewCall',
      summary: 'Review a call',
      description:
        'Replaces an earlier review of the analysis. Answers that you do not name stay as the machine gave them. The score is added up anew. A review with answers of another person is replaced only with If-Match.',
      responses: { 200: { description: 'The analysis with the review.', schema: ShownAnalysis, headers: etag } },
      errors: ['ANALYSIS_CHANGED', 'REVIEW_CHANGED', 'IF_MATCH_REQUIRED'],
      headers: ifMatch('The revision of the review that you read. If it was changed since, the request is refused.'),
      async handle({ caller, params, body, request, address }) {
        const { analysis_json } = await catalogue.reviewAnalysis({
          ...reviewRequest(body, revisionInIfMatch(request)),
          caller: actorOf(caller, address),
          call_uuid: params.uuid,
          done: body.done ?? false,
        });
        return reviewed(caller, analysis_json);
      },
    }),
    endpoint({
      method: 'PATCH',
      path: `${PATH}/review`,
      roles: AND_REVIEWERS,
      body: ReviewBody,
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
      async handle({ caller, params, body, request, address }) {
        const { analysis_json } = await catalogue.changeReview({
          ...reviewRequest(body, revisionInIfMatch(request)),
          caller: actorOf(caller, address),
          call_uuid: params.uuid,
          ...(body.done !== undefined && { done: body.done }),
        });
        return reviewed(caller, analysis_json);
      },
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
      async handle({ caller, params, request, address }) {
        const basedOn = revisionInIfMatch(request);
        const { analysis_json } = await catalogue.withdrawReview({
          caller: actorOf(caller, address),
          call_uuid: params.uuid,
          ...(basedOn !== null && { based_on: basedOn }),
        });
        return reviewed(caller, analysis_json);
      },
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
      async handle({ caller, params, address }) {
        const call_uuid = params.uuid;
        return answered(await catalogue.swapChannels({ caller: actorOf(caller, address), call_uuid }), 202);
      },
    }),
  ];
}

function reviewRequest({ analysis_uuid, answers, comment }: z.output<typeof ReviewBody>, basedOn: number | null) {
  return {
    analysis_uuid,
    answers: answers.map(({ answer, ...rest }) => ({ ...rest, ...(answer !== null && { answer }) })),
    ...(comment !== undefined && { comment }),
    ...(basedOn !== null && { based_on: basedOn }),
  };
}
