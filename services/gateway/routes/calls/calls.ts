import { Language, Resolution, Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import { REVIEW_STATUSES } from '@call-analysis/proto/values';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { type Caller, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { anyOf, flag, instant, isInstant, number, page, pathUuid, size, text } from '../../http/request/fields.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import type { JsonResponse } from '../../http/response/send.ts';
import { CallDetail, CallItem, CallPage, CallStatus, ErasureReceipt } from '../../response-schemas/calls.ts';
import { actorOf, callerOf } from '../rpc-caller.ts';
import type { AddChoices } from './answer-choices.ts';
import { callDetail, callItem, type Calls, listedCall, readCall } from './call-json.ts';

const PATH = '/api/v1/calls';
/** Erasing rewrites the CSVs of refused rows that have copies of the call. */
const ERASE_MS = 60_000;

const MAX_VALUE_CHARS = 255;
const MAX_QUERY_CHARS = 255;
const MAX_CURSOR_CHARS = 255;
const MAX_DURATION = 1_000_000;

/** A user of the firm, or the caller. Which one is decided when it is asked: saved views keep `me`. */
const Person = z
  .union([Uuid, z.literal('me')], { error: 'must be the uuid of a user, or me' })
  .optional()
  .meta({ documentedAs: { type: 'string', examples: ['me', '019a4f3e-0000-7000-8000-0000000000b1'] } });

/** Also checked when fields are invalid, so that all faults are reported together. */
const always = { when: () => true };

const filters = {
  status: anyOf(CallStatus),
  outcome: anyOf(z.enum(['scored', 'no_speech'])),
  segment_type: anyOf(text(MAX_VALUE_CHARS)),
  direction: anyOf(z.enum(['inbound', 'outbound'])),
  operator_name: text(MAX_VALUE_CHARS).optional(),
  operator_group_name: text(MAX_VALUE_CHARS).optional(),
  partner_call_id: text(MAX_VALUE_CHARS).optional(),
  batch: Uuid.optional(),
  source: z.enum(['audio', 'transcription']).optional(),
  started_from: instant().optional().meta({ description: 'Calls that started at this time or later.' }),
  started_to: instant().optional().meta({ description: 'Calls that started before this time.' }),
  score_min: number(0, 100).optional(),
  score_max: number(0, 100).optional(),
  needs_review: flag().optional().meta({ description: 'Whether an answer of the current analysis needs a review.' }),
  reviewed: flag().optional().meta({ description: 'Whether a person has reviewed the current analysis.' }),
  operator_id: text(MAX_VALUE_CHARS).optional(),
  client_phone_number: text(MAX_VALUE_CHARS)
    .optional()
    .meta({ description: 'The digits are compared; a plus sign makes no difference.' }),
  language: Language.optional(),
  topic: text(MAX_VALUE_CHARS).optional(),
  resolution: Resolution.optional(),
  auto_failed: flag().optional(),
  auto_fail_suspected: flag().optional().meta({
    description: 'Whether an answer by a phrase alone would fail the call, until somebody has looked at it.',
  }),
  assigned_to: Person.meta({ description: 'A user, or `me`: calls whose review is their task.' }),
  reviewed_by: Person.meta({
    description: 'A user, or `me`: who has changed the review of the current analysis last.',
  }),
  review_status: anyOf(z.enum(REVIEW_STATUSES)).meta({
    description:
      '`disputed` while a dispute is open, else `acknowledged` once the review was read, `done`, `open` (begun), or `none`.',
  }),
  lost_points: Uuid.optional().meta({
    description:
      "A question's uuid: calls whose answer to it, in the current analysis, got fewer points than the question can give.",
  }),
  duration_min: number(0, MAX_DURATION).optional().meta({ description: 'Seconds.' }),
  duration_max: number(0, MAX_DURATION).optional().meta({ description: 'Seconds.' }),
  q: text(MAX_QUERY_CHARS)
    .refine((value) => /[\p{L}\p{N}]/u.test(value), 'must contain a word')
    .optional()
    .meta({
      description: 'Words of the conversation in any form. A phrase in double quotes; `-word` excludes a word.',
    }),
  sort: z
    .enum(['start_time', '-start_time', 'created_at', '-created_at', 'score', '-score'])
    .default('-created_at')
    .meta({ description: 'Calls without a score come last in either order.' }),
  page: page
    .unwrap()
    .optional()
    .meta({ description: 'The page number, from 1 (the default). Not together with `cursor`.' }),
  size,
  cursor: text(MAX_CURSOR_CHARS)
    .optional()
    .meta({ description: 'The `next_cursor` of the previous response, with the same filters and `sort`.' }),
};

/** Filters of any list of calls. */
export const CallQuery = consistent(z.strictObject(filters));
/** The query of a firm's list. */
export const FirmCallQuery = consistent(z.strictObject({ ...filters, campaign: Uuid.optional() }));

const { sort: _sort, page: _page, size: _size, cursor: _cursor, ...conditions } = filters;

/** The filters and the sort of a list of all calls of a firm that has no pages. */
export const WholeCallQuery = z.strictObject({ ...conditions, campaign: Uuid.optional(), sort: filters.sort });

export const filterDescription =
  'The filters of Get Calls by name, without `sort`, `page`, `size` and `cursor`. An empty object is every call of the firm.';

/** The filters of a list of calls in a JSON body, where numbers and booleans may be written as such. */
export const CallFilter = z.preprocess(
  (given) =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? Object.fromEntries(Object.entries(given).map(([name, value]) => [name, asText(value)]))
      : given,
  rangesInOrder(z.strictObject({ ...conditions, campaign: Uuid.optional() })),
);

/** The filter in which `me` is the caller. */
export function personalFilter<Filter extends { assigned_to?: string | undefined; reviewed_by?: string | undefined }>(
  { userUuid }: Caller,
  filter: Filter,
): Filter {
  const { assigned_to, reviewed_by } = filter;
  return {
    ...filter,
    ...(assigned_to === 'me' && { assigned_to: userUuid }),
    ...(reviewed_by === 'me' && { reviewed_by: userUuid }),
  };
}

/** As many as the body of a request has room for. */
const MAX_SELECTED = 10_000;

/** Calls that are named one by one in a JSON body. */
export const CallUuids = z.array(Uuid).min(1).max(MAX_SELECTED);

function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

/** Adds the rules that concern two fields. */
function consistent<Query extends z.ZodObject<typeof filters>>(query: Query): Query {
  return rangesInOrder(query).refine(({ page, cursor }) => page === undefined || cursor === undefined, {
    ...always,
    path: ['cursor'],
    error: 'cannot be used together with page; leave one out',
  });
}

/** Adds the rules for ranges: the end must not be before the beginning. */
export function rangesInOrder<Query extends z.ZodObject<typeof conditions>>(query: Query): Query {
  return query
    .refine(({ started_from: from, started_to: to }) => !(isInstant(from) && isInstant(to) && from > to), {
      ...always,
      path: ['started_to'],
      error: 'must not be before started_from',
    })
    .refine(
      ({ score_min: min, score_max: max }) => !(typeof min === 'number' && typeof max === 'number' && min > max),
      {
        ...always,
        path: ['score_max'],
        error: 'must not be below score_min',
      },
    )
    .refine(
      ({ duration_min: min, duration_max: max }) => !(typeof min === 'number' && typeof max === 'number' && min > max),
      { ...always, path: ['duration_max'], error: 'must not be below duration_min' },
    );
}

export const listCallsDescription =
  'A call must match all filters. `status`, `outcome`, `segment_type`, `direction` and `review_status` may be repeated; any of their values matches. `q` finds all forms of a word in English, Russian and Spanish, and the exact word in other languages.\n\nTo read more than a few pages use `cursor`: its cost does not grow, and no call is skipped or repeated while new calls arrive. `page` reaches the first 10,000 calls.\n\n`count` is exact up to 10,000 calls, and always for one `batch` or `campaign` alone. Beyond, it may be an estimate within 5 %: `count_is_estimate` is true.';

/** A page of the calls of a firm, or of a campaign. */
export async function listCalls(
  catalogue: Pick<Client<typeof ingest>, 'listCalls'>,
  caller: Caller,
  query: z.output<typeof CallQuery>,
  campaign?: string,
): Promise<JsonResponse> {
  const request = {
    caller: callerOf(caller),
    ...personalFilter(caller, query),
    page: query.page ?? 1,
    ...(campaign !== undefined && { campaign }),
  };
  const { count, items, next_cursor, count_is_estimate, words_until } = await catalogue.listCalls(request);
  const page = { count, count_is_estimate: count_is_estimate ?? false, items: items.map(listedCall) };
  const waiting = words_until === undefined ? {} : { words_until };
  return { status: 200, body: { ...page, next_cursor: next_cursor ?? null, ...waiting } };
}

/** docs/api.md, "Calls". */
export function calls(
  catalogue: Calls & Pick<Client<typeof ingest>, 'listCalls' | 'retryCall' | 'analyzeCall' | 'eraseCall'>,
  publicUrl: PublicUrl,
  addChoices: AddChoices,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      credentials: 'bearer',
      roles: EVERY_ROLE,
      query: FirmCallQuery,
      docs: {
        tag: 'Calls',
        id: 'listCalls',
        summary: 'List calls',
        description: listCallsDescription,
        responses: { 200: { description: 'A page of calls.', schema: CallPage } },
      },
      handle: ({ caller, query }) => listCalls(catalogue, caller, query),
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      credentials: 'bearer',
      roles: EVERY_ROLE,
      docs: {
        tag: 'Calls',
        id: 'getCall',
        summary: 'Get a call',
        description:
          'The call with its transcript, all its analyses, and the quotes that support every answer. To follow a call, send the ETag of the response before in If-None-Match: 304 means that nothing has changed.',
        responses: {
          200: {
            description: 'The call.',
            schema: CallDetail,
            headers: { ETag: 'Names this state of the call. Absent while it cannot be shown completely.' },
          },
          304: { description: 'The call is as the client knows it.' },
        },
        headers: {
          'If-None-Match': {
            description: 'The ETag of an earlier response.',
            schema: z
              .string()
              .max(MAX_VALUE_CHARS)
              .optional()
              .meta({ examples: ['W/"0cc175b9c0f1b6a831c399e269772661"'] }),
          },
        },
      },
      async handle({ caller, params, request }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        const known = /^(?:W\/)?"([0-9a-f]{32})"$/.exec(request.headers['if-none-match']?.trim() ?? '')?.[1];
        const call = await readCall(catalogue, {
          caller: callerOf(caller),
          call_uuid,
          ...(known !== undefined && { known_version: known }),
        });
        // Weak: the URL of the recording differs in each response.
        const headers = call.version === undefined ? {} : { etag: `W/"${call.version}"` };
        if (known !== undefined && call.version === known) return { status: 304, headers };
        const body = await callDetail(
          call,
          (url) => publicUrl(request, url),
          (analyses) => addChoices(caller, analyses),
        );
        return isComplete(body) ? { status: 200, headers, body } : { status: 200, body };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/retry`,
      credentials: 'bearer',
      docs: {
        tag: 'Calls',
        id: 'retryCall',
        summary: 'Retry a call',
        description: 'Only a failed call whose failure is `retryable` can be retried.',
        responses: { 202: { description: 'The call, queued again.', schema: CallItem } },
        errors: ['NOT_RETRYABLE'],
      },
      async handle({ caller, params }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        return { status: 202, body: callItem(await catalogue.retryCall({ caller: callerOf(caller), call_uuid })) };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/analyze`,
      credentials: 'bearer',
      docs: {
        tag: 'Calls',
        id: 'analyzeCall',
        summary: 'Analyze a call again',
        description:
          'Only a call that is completed, or that failed in its analysis. It is scored by the scorecard that is active now. Earlier analyses stay in `analyses`.',
        responses: { 202: { description: 'The call, in analysis.', schema: CallItem } },
        errors: ['INVALID_TRANSITION'],
      },
      async handle({ caller, params }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        return { status: 202, body: callItem(await catalogue.analyzeCall({ caller: callerOf(caller), call_uuid })) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      credentials: 'bearer',
      docs: {
        tag: 'Calls',
        id: 'eraseCall',
        summary: 'Erase a call',
        description:
          'Stops the processing of the call and removes its data: recording, transcript, analyses, history, queued events, and copies in refused rows. Files that were uploaded for its batch are removed too, a ZIP of recordings as soon as no other call needs it. Its `partner_call_id` can be used again. Its batch and campaign still count it, as `erased`. A repeated request returns the receipt while data is still being removed, and 404 afterwards.',
        responses: { 200: { description: 'What was removed, with counts.', schema: ErasureReceipt } },
      },
      async handle({ caller, params, address }) {
        const call = { caller: actorOf(caller, address), call_uuid: pathUuid(params['uuid'], 'call') };
        const { uuid, erased_at, removed } = await catalogue.eraseCall(call, { deadlineMs: ERASE_MS });
        return { status: 200, body: { uuid, erased_at, removed: removed.map(({ what, count }) => ({ what, count })) } };
      },
    }),
  ];
}

/** Whether the choices of all questions could be read. A client would keep a call that lacks them. */
function isComplete({ analyses }: Awaited<ReturnType<typeof callDetail>>): boolean {
  return analyses.every(({ sections }) =>
    sections.every(({ questions }) => questions.every(({ choices }) => choices !== null)),
  );
}
