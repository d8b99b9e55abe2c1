import { inOrder, instant, page, size, text, wholeNumber } from '@call-analysis/api/fields';
import { Agreement, ComparedCallPage } from '@call-analysis/api/people';
import { Language, Uuid } from '@call-analysis/events';
import type { analysis, ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { answered, callerOf } from '../rpc-caller.ts';

const PATH = '/api/v1/scorecards/:uuid/agreement';
const MAX_LABEL_CHARS = 255;
const MAX_REVISION = 2 ** 31 - 1;

const AgreementQuery = z.strictObject({
  revision: wholeNumber(1, MAX_REVISION).optional().meta({ description: 'All revisions when left out.' }),
  from: instant().optional().meta({ description: 'Calls that started at this time or later.' }),
  to: instant().optional().meta({ description: 'Calls that started before this time.' }),
  language: Language.optional(),
  segment_type: text(MAX_LABEL_CHARS).optional(),
});

/** A label, or nothing for "not applicable". */
const label = z
  .string()
  .max(MAX_LABEL_CHARS)
  .refine((given) => given.isWellFormed() && !given.includes('\0'), 'must be well-formed text without NUL')
  .optional();

const ComparedQuery = AgreementQuery.extend({
  question: Uuid,
  machine: label.meta({ description: 'Only with this answer of the machine. An empty one is "not applicable".' }),
  person: label.meta({ description: 'Only with this answer of a person. An empty one is "not applicable".' }),
  page,
  size,
});

/** The agreement of people with the machine, and the compared calls (docs/api.md, "People's judgement"). */
export function agreement(
  catalogue: Pick<Client<typeof ingest>, 'measureAgreement' | 'listComparedCalls'>,
  scorecards: Pick<Client<typeof analysis>, 'getScorecard'>,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      roles: AND_REVIEWERS,
      query: inOrder(AgreementQuery),
      tag: 'Reviews',
      id: 'getAgreement',
      summary: 'Get the agreement of people with the machine',
      description:
        "Compares the answers of reviews with those of the machine. An answer that a review with `done` leaves unnamed counts as agreed; a question that the machine left open does not count. `kappa` is Cohen's.",
      responses: { 200: { description: 'The agreement by question.', schema: Agreement } },
      async handle({ caller, params, query }) {
        const request = { caller: callerOf(caller), scorecard_uuid: params.uuid };
        // An unknown scorecard is NOT_FOUND, not an empty result.
        await scorecards.getScorecard({
          ...request,
          ...(query.revision !== undefined && { revision: query.revision }),
        });
        return answered(await catalogue.measureAgreement({ ...request, ...query }));
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/calls`,
      roles: AND_REVIEWERS,
      query: inOrder(ComparedQuery),
      tag: 'Reviews',
      id: 'listComparedCalls',
      summary: 'List the calls behind an agreement',
      description:
        'The calls whose answers to a question the agreement compares, those that started last first. The other parameters are those of the agreement.',
      responses: { 200: { description: 'A page of calls.', schema: ComparedCallPage } },
      async handle({ caller, params, query: { question, machine, person, page: number, size: most, ...query } }) {
        const request = { caller: callerOf(caller), scorecard_uuid: params.uuid };
        const reply = await catalogue.listComparedCalls({
          agreement: { ...request, ...query },
          question_uuid: question,
          ...(machine !== undefined && { machine }),
          ...(person !== undefined && { person }),
          page: number,
          size: most,
        });
        return answered(reply);
      },
    }),
  ];
}
