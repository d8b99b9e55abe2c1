import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { pathUuid, text, written } from '../../http/request/fields.ts';
import { CallItem, ShownAnalysis } from '../../response-schemas/calls.ts';
import { actorOf } from '../rpc-caller.ts';
import type { AddChoices } from './answer-choices.ts';
import { callItem } from './call-json.ts';

const PATH = '/api/v1/calls/:uuid';
const MAX_LABEL_CHARS = 255;
const MAX_COMMENT_CHARS = 5_000;
const MAX_ANSWERS = 1_000;

const Review = z
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

/** Reviews of analyses, and what follows from them (docs/api.md, "People's judgement"). */
export function reviews(
  catalogue: Pick<Client<typeof ingest>, 'reviewAnalysis' | 'withdrawReview' | 'swapChannels'>,
  addChoices: AddChoices,
): Endpoint[] {
  return [
    endpoint({
      method: 'PUT',
      path: `${PATH}/review`,
      credentials: 'bearer',
      body: Review,
      docs: {
        tag: 'Reviews',
        id: 'reviewCall',
        summary: 'Review a call',
        description:
          'Replaces an earlier review of the analysis. Answers that you do not name stay as the machine gave them. The score is added up anew.',
        responses: { 200: { description: 'The analysis with the review.', schema: ShownAnalysis } },
        errors: ['ANALYSIS_CHANGED'],
      },
      async handle({ caller, params, body, address }) {
        const { analysis_json } = await catalogue.reviewAnalysis({
          caller: actorOf(caller, address),
          call_uuid: pathUuid(params['uuid'], 'call'),
          analysis_uuid: body.analysis_uuid,
          answers: body.answers.map(({ answer, ...rest }) => ({ ...rest, ...(answer !== null && { answer }) })),
          ...(body.comment !== undefined && { comment: body.comment }),
          done: body.done ?? false,
        });
        return { status: 200, body: (await addChoices(caller, [analysis_json]))[0]! };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/review`,
      credentials: 'bearer',
      docs: {
        tag: 'Reviews',
        id: 'withdrawReview',
        summary: 'Withdraw a review',
        description: "The machine's answers count again. 404 when the current analysis has no review.",
        responses: { 200: { description: 'The analysis without the review.', schema: ShownAnalysis } },
      },
      async handle({ caller, params, address }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        const { analysis_json } = await catalogue.withdrawReview({ caller: actorOf(caller, address), call_uuid });
        return { status: 200, body: (await addChoices(caller, [analysis_json]))[0]! };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/swap-channels`,
      credentials: 'bearer',
      docs: {
        tag: 'Calls',
        id: 'swapChannels',
        summary: 'Swap operator and client',
        description: 'For a recording whose channels were named the wrong way round. The call is analyzed again.',
        responses: { 202: { description: 'The call, in analysis.', schema: CallItem } },
        errors: ['INVALID_TRANSITION'],
      },
      async handle({ caller, params, address }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        return {
          status: 202,
          body: callItem(await catalogue.swapChannels({ caller: actorOf(caller, address), call_uuid })),
        };
      },
    }),
  ];
}
