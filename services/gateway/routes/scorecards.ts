import { PageQuery, wholeNumber } from '@call-analysis/api/fields';
import { DefaultScorecard, exampleDraft, RevisionPage, Scorecard, ScorecardPage } from '@call-analysis/api/scorecards';
import { ScorecardDraft } from '@call-analysis/events';
import { z } from 'zod';
import type { Endpoint, HandlerResponse } from '../http/endpoint.ts';
import { etagOf, IfMatch } from '../http/request/if-match.ts';
import { textOfBody } from '../http/request/json-body.ts';
import { actorOf, type Answer, answered, callerOf, readAnswer, servedBy, type Services } from './rpc-caller.ts';

const PATH = '/api/v1/scorecards';
const MAX_REVISION = 2 ** 31 - 1;

/**
 * The analysis service validates the scorecard, both its form and its references, so that all faults are reported
 * together. The schema here is for the documentation.
 */
const Draft = z.looseObject({}).meta({ documentedAs: ScorecardDraft, examples: [exampleDraft] });

const etag = { ETag: 'The revision in double quotes, for the If-Match header of a change.' };

/** The scorecards of a firm: create, revise and activate them. */
export function scorecards({ analysis }: Services): Endpoint[] {
  const endpoint = servedBy(analysis, { tag: 'Scorecards', roles: ['ADMIN'] });
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      query: PageQuery,
      id: 'listScorecards',
      summary: 'List scorecards',
      description: 'Newest first, without their sections. Every firm starts with one scorecard, which is active.',
      responses: { 200: { description: 'A page of scorecards.', schema: ScorecardPage } },
      handle: async ({ caller, query }) =>
        answered(await analysis.listScorecards({ caller: callerOf(caller), ...query })),
    }),
    endpoint({
      method: 'POST',
      path: PATH,
      body: Draft,
      id: 'createScorecard',
      summary: 'Create a scorecard',
      description:
        'For one segment type, or the default of the firm when `segment_type` is null or left out. It scores no calls until it is activated. The response contains the uuids of its questions.\n\nPhrases: `refund` matches this word, `refund*` every word that starts with it, `#` a number, `i|we` either word, `(call back|ring)` either group. `[very|so]` is optional, `..` is up to three words, and `! no problem` is an exception.',
      responses: { 201: { description: 'The scorecard, at revision 1.', schema: Scorecard, headers: etag } },
      async handle({ caller, body, address }) {
        const created = await analysis.createScorecard({
          caller: actorOf(caller, address),
          document: textOfBody(body),
        });
        return scorecardResponse(created);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/default`,
      id: 'getDefaultScorecard',
      summary: 'Get the default scorecard of this release',
      description:
        'What a new firm gets, in the language of the firm. A firm keeps the scorecard that it has: to take this one, try it and send its `name`, `segment_type` and `sections` as a revision of `scorecard_uuid`.',
      responses: { 200: { description: 'The default scorecard.', schema: DefaultScorecard } },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      query: z.strictObject({ revision: wholeNumber(1, MAX_REVISION).optional() }),
      id: 'getScorecard',
      summary: 'Get a scorecard',
      description: 'The newest revision, or the one in `revision`.',
      responses: { 200: { description: 'The scorecard.', schema: Scorecard, headers: etag } },
      async handle({ caller, params, query }) {
        return scorecardResponse(
          await analysis.getScorecard({ caller: callerOf(caller), scorecard_uuid: params.uuid, ...query }),
        );
      },
    }),
    endpoint({
      method: 'PUT',
      path: `${PATH}/:uuid`,
      body: Draft,
      id: 'reviseScorecard',
      summary: 'Revise a scorecard',
      description:
        'Creates a new revision. If the scorecard is active, calls are scored by it from now on; calls that were scored keep their revision. Send the uuids of existing questions, and none for new questions. The segment type cannot be changed.',
      responses: {
        200: { description: 'The scorecard, at its new revision.', schema: Scorecard, headers: etag },
      },
      errors: ['REVISION_CONFLICT', 'IF_MATCH_REQUIRED'],
      headers: {
        'If-Match': {
          description:
            'The revision that you changed, as returned in ETag. If it is no longer the newest, the change is refused with who made that, when, and `questions` that it changed.',
          schema: IfMatch,
        },
      },
      async handle({ caller, params, body, address, basedOn }) {
        const revised = await analysis.reviseScorecard({
          caller: actorOf(caller, address),
          scorecard_uuid: params.uuid,
          expected_revision: basedOn!,
          document: textOfBody(body),
        });
        return scorecardResponse(revised);
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid/revisions`,
      query: PageQuery,
      id: 'listScorecardRevisions',
      summary: 'List the revisions of a scorecard',
      description: 'Newest first. To read a revision, get the scorecard with `revision`.',
      responses: { 200: { description: 'A page of revisions.', schema: RevisionPage } },
      handle: async ({ caller, params, query }) =>
        answered(await analysis.listRevisions({ caller: callerOf(caller), scorecard_uuid: params.uuid, ...query })),
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/activate`,
      id: 'activateScorecard',
      summary: 'Activate a scorecard',
      description:
        'From now on it scores the calls of its segment type, instead of the scorecard that was active before. A default scorecard scores calls of all segment types without an active scorecard of their own. A default scorecard is always active.',
      responses: { 200: { description: 'The active scorecard.', schema: Scorecard, headers: etag } },
      async handle({ caller, params, address }) {
        return scorecardResponse(
          await analysis.activateScorecard({ caller: actorOf(caller, address), scorecard_uuid: params.uuid }),
        );
      },
    }),
  ];
}

function scorecardResponse(reply: Answer): HandlerResponse {
  const body = readAnswer<z.output<typeof Scorecard>>(reply);
  return { headers: { etag: etagOf(body.revision) }, body };
}
