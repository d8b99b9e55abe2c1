import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import type { Caller } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { anyOf, instant, number, page, pathUuid, size, text, uuid } from '../../http/request/fields.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import type { Answer } from '../../http/response/json-response.ts';
import { CallDetail, CallItem, CallPage, callStatuses, ErasureReceipt } from '../../response-schemas/calls.ts';
import { callerOf } from '../ingest-caller.ts';
import { callDetail, callItem } from './call-json.ts';

const PATH = '/api/v1/calls';
/** Every CSV of refused rows is read through for copies of the call. */
const ERASING_MS = 60_000;
const Status = z.enum(callStatuses);

const MAX_VALUE_CHARS = 255;
const MAX_QUERY_CHARS = 255;
const MAX_CURSOR_CHARS = 255;

const filters = {
  status: anyOf(Status),
  outcome: anyOf(z.enum(['scored', 'no_speech'])),
  segment_type: anyOf(text(MAX_VALUE_CHARS)),
  direction: anyOf(z.enum(['inbound', 'outbound'])),
  operator_name: text(MAX_VALUE_CHARS).optional(),
  operator_group_name: text(MAX_VALUE_CHARS).optional(),
  partner_call_id: text(MAX_VALUE_CHARS).optional(),
  batch: uuid().optional(),
  source: z.enum(['audio', 'transcription']).optional(),
  started_from: instant().optional().meta({ description: 'Calls that started then or later.' }),
  started_to: instant().optional().meta({ description: 'Calls that started before.' }),
  score_min: number(0, 100).optional(),
  score_max: number(0, 100).optional(),
  q: text(MAX_QUERY_CHARS)
    .refine((value) => /[\p{L}\p{N}]/u.test(value), 'must have a word in it')
    .optional()
    .meta({ description: 'Words of the conversation, in any of its forms; "a phrase" in quotes; -without.' }),
  sort: z
    .enum(['start_time', '-start_time', 'created_at', '-created_at', 'score', '-score'])
    .default('-created_at')
    .meta({ description: 'Calls without a score come last, either way.' }),
  page: page.unwrap().optional().meta({ description: 'Which page, from 1; 1 without it. Not beside `cursor`.' }),
  size,
  cursor: text(MAX_CURSOR_CHARS)
    .optional()
    .meta({ description: 'The `next_cursor` of the answer before, with the same filters and the same `sort`.' }),
};

/** What narrows a list of calls, whichever calls it is of. */
export const CallQuery = consistent(z.strictObject(filters));
const AnyCallQuery = consistent(z.strictObject({ ...filters, campaign: uuid().optional() }));

/** What no field can say by itself. */
function consistent<Query extends z.ZodObject<typeof filters>>(query: Query): Query {
  // Asked beside the faults of the fields, so that all are told at once.
  const always = { when: () => true };
  return query
    .refine(({ page, cursor }) => page === undefined || cursor === undefined, {
      ...always,
      path: ['cursor'],
      error: 'cannot stand beside page; leave one out',
    })
    .refine(({ started_from: from, started_to: to }) => !(isTime(from) && isTime(to) && from > to), {
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
    );
}

/** A field at fault still holds what was sent. */
function isTime(text: string | undefined): text is string {
  return text !== undefined && Number.isInteger(Date.parse(text)) && text.endsWith('Z');
}

export const aboutCalls =
  'All filters must match; `status`, `outcome`, `segment_type` and `direction` may repeat, and any of their values will do. `q` finds words in English, Russian and Spanish in all their forms, in other languages as they are written. To walk more than a few pages take `cursor`: its cost does not grow, and nothing is skipped or repeated while calls arrive. `page` reaches 100,000 calls deep. `count` is exact without a filter and with one filter (`q` apart; a range of time if it begins and ends at midnight UTC); with several as long as one of them lets no more than 20,000 calls through, and with `q` up to 200, or in a firm of up to 250,000 calls up to 20,000. Beyond that, and right after a large upload, it is an estimate and `count_is_estimate` is true.';

/** A page of the firm's calls, or of those of one campaign. */
export async function listCalls(
  catalogue: Pick<Client<typeof ingest>, 'listCalls'>,
  caller: Caller,
  query: z.output<typeof CallQuery>,
  campaign?: string,
): Promise<Answer> {
  const asked = {
    caller: callerOf(caller),
    ...query,
    page: query.page ?? 1,
    ...(campaign !== undefined && { campaign }),
  };
  const { count, items, next_cursor, count_is_estimate } = await catalogue.listCalls(asked);
  const page = { count, count_is_estimate: count_is_estimate ?? false, items: items.map(callItem) };
  return { status: 200, body: { ...page, next_cursor: next_cursor ?? null } };
}

/** api.md, section 6. */
export function calls(
  catalogue: Pick<Client<typeof ingest>, 'listCalls' | 'getCall' | 'retryCall' | 'analyzeCall' | 'eraseCall'>,
  publicUrl: PublicUrl,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      proof: 'bearer',
      query: AnyCallQuery,
      about: {
        tag: 'Calls',
        summary: 'List calls',
        description: aboutCalls,
        answers: { 200: { description: 'A page of calls.', schema: CallPage } },
      },
      handle: ({ caller, query }) => listCalls(catalogue, caller, query),
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      proof: 'bearer',
      about: {
        tag: 'Calls',
        summary: 'Get a call',
        description: 'With its transcript, all its analyses and the quotes behind every answer.',
        answers: { 200: { description: 'The call in full.', schema: CallDetail } },
      },
      async handle({ caller, params, request }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        const call = await catalogue.getCall({ caller: callerOf(caller), call_uuid });
        return { status: 200, body: callDetail(call, (url) => publicUrl(request, url)) };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/retry`,
      proof: 'bearer',
      about: {
        tag: 'Calls',
        summary: 'Retry a call',
        description: 'For a failed call whose failure is `retryable`.',
        answers: { 202: { description: 'The call, queued anew.', schema: CallItem } },
        refusals: ['NOT_RETRYABLE'],
      },
      async handle({ caller, params }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        return { status: 202, body: callItem(await catalogue.retryCall({ caller: callerOf(caller), call_uuid })) };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/analyze`,
      proof: 'bearer',
      about: {
        tag: 'Calls',
        summary: 'Analyze a call once more',
        description:
          'For a call that is completed, or failed at its analysis. It is scored by the scorecard that is in force now; what it was scored before stays in `analyses`.',
        answers: { 202: { description: 'The call, being analyzed.', schema: CallItem } },
        refusals: ['INVALID_TRANSITION'],
      },
      async handle({ caller, params }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        return { status: 202, body: callItem(await catalogue.analyzeCall({ caller: callerOf(caller), call_uuid })) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      proof: 'bearer',
      about: {
        tag: 'Calls',
        summary: 'Erase a call',
        description:
          'Whatever is being done with the call is stopped, and all that is known of it is removed: its recording, transcript, analyses and history, what waits in queues, and copies among refused rows. A file that was uploaded for its batch goes too, the archive of recordings as soon as no other call needs it. Its `partner_call_id` is free again. The batch and the campaign go on counting it, as `erased`. Asked again while some of it is still being removed, the answer is the receipt as it stands, afterwards 404.',
        answers: { 200: { description: 'What was removed, and how many of it.', schema: ErasureReceipt } },
      },
      async handle({ caller, params }) {
        const asked = { caller: callerOf(caller), call_uuid: pathUuid(params['uuid'], 'call') };
        const { uuid, erased_at, removed } = await catalogue.eraseCall(asked, { deadlineMs: ERASING_MS });
        return { status: 200, body: { uuid, erased_at, removed: removed.map(({ what, count }) => ({ what, count })) } };
      },
    }),
  ];
}
