import { Agreement, AgreementQuery, ComparedCallPage, ComparedQuery } from '@call-analysis/api/people';
import type { analysis, ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { callerOf, passTo } from '../rpc-caller.ts';

const PATH = '/api/v1/scorecards/:uuid/agreement';
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
      query: AgreementQuery,
      tag: 'Reviews',
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
      path: `${PATH}/calls`,
      roles: AND_REVIEWERS,
      query: ComparedQuery,
      tag: 'Reviews',
      id: 'listComparedCalls',
      summary: 'List the calls behind an agreement',
      description:
        'The calls whose answers to a question the agreement compares, those that started last first. The other parameters are those of the agreement.',
      responses: { 200: { description: 'A page of calls.', schema: ComparedCallPage } },
      handle: passTo(catalogue, 'listComparedCalls'),
    }),
  ];
}
