import type { IncomingMessage } from 'node:http';
import { Fault, invalidFields } from '@call-analysis/fault';
import type { analysis } from '@call-analysis/proto';
import type { Scorecard } from '@call-analysis/proto/analysis/v1/Scorecard';
import type { ScorecardReply } from '@call-analysis/proto/analysis/v1/ScorecardReply';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import type { Caller } from '../authentication/caller.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { page, pathUuid, size, wholeNumber } from '../http/request/fields.ts';
import type { Answer } from '../http/response/json-response.ts';
import {
  exampleDraft,
  RevisionPage,
  ScorecardInFull,
  ScorecardPage,
  sentDraft,
} from '../response-schemas/scorecards.ts';

const PATH = '/api/v1/scorecards';
const MAX_REVISION = 2 ** 31 - 1;

/**
 * The analysis service judges the document, so that everything wrong with it is told at once: its form, and what it
 * refers to. The schema here is what a client reads of it.
 */
const Document = z.looseObject({}).meta({ id: 'ScorecardDraft', wire: sentDraft, examples: [exampleDraft] });

const ofAdmins = { proof: 'bearer', roles: ['ADMIN'] } as const;
const tag = 'Scorecards';
const etag = { ETag: 'The revision, in double quotes: what If-Match takes when this is changed.' };

/** A firm's scorecards: made, revised, put in force. */
export function scorecards(service: Omit<Client<typeof analysis>, 'ready' | 'close'>): Endpoint[] {
  return [
    endpoint({
      ...ofAdmins,
      method: 'GET',
      path: PATH,
      query: z.strictObject({ page, size }),
      about: {
        tag,
        summary: 'List scorecards',
        description: 'Newest first, without their sections. Every firm begins with one, which is active.',
        answers: { 200: { description: 'A page of scorecards.', schema: ScorecardPage } },
      },
      async handle({ caller, query }) {
        const { count, items } = await service.listScorecards({ caller: callerOf(caller), ...query });
        return { status: 200, body: { count, items: items.map(shape) } };
      },
    }),
    endpoint({
      ...ofAdmins,
      method: 'POST',
      path: PATH,
      body: Document,
      about: {
        tag,
        summary: 'Create a scorecard',
        description:
          'For one segment type, or as a default of the firm when `segment_type` is null or left out. It scores nothing until it is activated. Questions get their uuids here. Phrases: `refund` is this word, `refund*` every word that begins so, `#` a number, `i|we` either, `(call back|ring)` either group, `[very|so]` may be missing, `..` is up to three words, and `! no problem` is an exception.',
        answers: { 201: { description: 'The scorecard, at revision 1.', schema: ScorecardInFull, headers: etag } },
      },
      async handle({ caller, body }) {
        const made = await service.createScorecard({ caller: callerOf(caller), document: textOf(body) });
        return inFull(made, 201);
      },
    }),
    endpoint({
      ...ofAdmins,
      method: 'GET',
      path: `${PATH}/:uuid`,
      query: z.strictObject({ revision: wholeNumber(1, MAX_REVISION).optional() }),
      about: {
        tag,
        summary: 'Get a scorecard',
        description: 'At its newest revision, or as an earlier one had it.',
        answers: { 200: { description: 'The scorecard.', schema: ScorecardInFull, headers: etag } },
      },
      async handle({ caller, params, query }) {
        const scorecard_uuid = uuidOf(params);
        return inFull(await service.getScorecard({ caller: callerOf(caller), scorecard_uuid, ...query }));
      },
    }),
    endpoint({
      ...ofAdmins,
      method: 'PUT',
      path: `${PATH}/:uuid`,
      body: Document,
      about: {
        tag,
        summary: 'Revise a scorecard',
        description:
          'Makes a new revision, by which calls are scored from now on when the scorecard is active; what was scored keeps its own. Questions that stay keep their uuid, new ones come without. Another segment type takes another scorecard.',
        answers: {
          200: { description: 'The scorecard, at its new revision.', schema: ScorecardInFull, headers: etag },
        },
        refusals: ['REVISION_CONFLICT'],
        headers: {
          'If-Match': {
            description:
              'The revision that was changed, as ETag gave it. When it is no longer the newest, the change is refused.',
            schema: z
              .string()
              .regex(/^"\d{1,9}"$/)
              .meta({ examples: ['"1"'] }),
          },
        },
      },
      async handle({ caller, params, body, request }) {
        const revised = await service.reviseScorecard({
          caller: callerOf(caller),
          scorecard_uuid: uuidOf(params),
          expected_revision: changedRevision(request),
          document: textOf(body),
        });
        return inFull(revised);
      },
    }),
    endpoint({
      ...ofAdmins,
      method: 'GET',
      path: `${PATH}/:uuid/revisions`,
      query: z.strictObject({ page, size }),
      about: {
        tag,
        summary: 'List the revisions of a scorecard',
        description: 'Newest first. Get the scorecard with `revision` for what one says.',
        answers: { 200: { description: 'A page of revisions.', schema: RevisionPage } },
      },
      async handle({ caller, params, query }) {
        const asked = { caller: callerOf(caller), scorecard_uuid: uuidOf(params), ...query };
        const { count, items } = await service.listRevisions(asked);
        return {
          status: 200,
          body: {
            count,
            items: items.map(({ revision, name, created_at, created_by }) => ({
              revision,
              name,
              created_at,
              created_by: created_by ?? null,
            })),
          },
        };
      },
    }),
    endpoint({
      ...ofAdmins,
      method: 'POST',
      path: `${PATH}/:uuid/activate`,
      about: {
        tag,
        summary: 'Activate a scorecard',
        description:
          'Calls of its segment type, or of all that have none of their own, are scored by it from now on, instead of the one that was active before. There is always an active default.',
        answers: { 200: { description: 'The scorecard, active.', schema: ScorecardInFull, headers: etag } },
      },
      async handle({ caller, params }) {
        return inFull(await service.activateScorecard({ caller: callerOf(caller), scorecard_uuid: uuidOf(params) }));
      },
    }),
  ];
}

function callerOf({ firmUuid, userUuid }: Caller) {
  return { firm_uuid: firmUuid, user_uuid: userUuid };
}

function uuidOf(params: Readonly<Record<string, string | undefined>>): string {
  return pathUuid(params['uuid'], 'scorecard');
}

function textOf(document: object): string {
  try {
    return JSON.stringify(document);
  } catch (error) {
    // Reading JSON takes any depth, writing it does not.
    if (!(error instanceof RangeError)) throw error;
    throw new Fault('invalid', 'INVALID_JSON', 'The body is nested too deeply to be a scorecard.');
  }
}

/** The revision that a change was made to, as `If-Match` names it. */
function changedRevision(request: IncomingMessage): number {
  const given = request.headers['if-match'];
  const [, revision] = /^"(\d{1,9})"$/.exec(given?.trim() ?? '') ?? [];
  if (revision !== undefined) return Number(revision);
  const code = given === undefined ? 'REQUIRED' : 'INVALID';
  const message = 'must be the revision that you changed, in double quotes, as ETag gave it; for example "1"';
  throw invalidFields([{ field: 'If-Match', code, message }]);
}

function shape(scorecard: Scorecard) {
  const { uuid, name, segment_type, is_active, revision, created_at, updated_at } = scorecard;
  return { uuid, name, segment_type: segment_type ?? null, is_active, revision, created_at, updated_at };
}

function inFull({ scorecard, sections_json }: ScorecardReply, status = 200): Answer {
  if (scorecard === null) throw new Fault('internal', 'INTERNAL', 'analysis answered without the scorecard.');
  return {
    status,
    headers: { etag: `"${scorecard.revision}"` },
    body: { ...shape(scorecard), sections: JSON.parse(sections_json) as unknown },
  };
}
