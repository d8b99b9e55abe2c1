import { type CallQuery, FirmCallQuery } from '@call-analysis/api/call-query';
import { CallDetail, CallItem, CallPage, ErasureReceipt, Playback } from '@call-analysis/api/calls';
import { z } from 'zod';
import { type Caller, EVERY_ROLE } from '../../authentication/caller.ts';
import type { Endpoint, HandlerResponse } from '../../http/endpoint.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import { actorOf, answered, callerOf, servedBy, type Services } from '../rpc-caller.ts';
import { type AddChoices, callDetail, readCall } from './call-json.ts';

const PATH = '/api/v1/calls';
/** Erasing rewrites the CSVs of refused rows that have copies of the call. */
const ERASE_MS = 60_000;
/** An hour of a slow codec is decoded in less. */
const PREPARE_MS = 120_000;

const MAX_ETAG_CHARS = 255;

export const listCallsDescription =
  'A call must match all filters. `status`, `outcome`, `segment_type`, `direction` and `review_status` may be repeated; any of their values matches. `q` finds all forms of a word in English, Russian and Spanish, and the exact word in other languages.\n\nTo read more than a few pages use `cursor`: its cost does not grow, and no call is skipped or repeated while new calls arrive. `page` reaches the first 10,000 calls.\n\n`count` is exact up to 10,000 calls, and always for one `batch` or `campaign` alone. Beyond, it may be an estimate within 5 %: `count_is_estimate` is true.';

/** A page of the calls of a firm, or of a campaign. */
export async function listCalls(
  ingest: Services['ingest'],
  caller: Caller,
  query: z.output<typeof CallQuery>,
  campaign?: string,
): Promise<HandlerResponse> {
  const { page = 1, size, sort, cursor, ...filter } = query;
  const request = { caller: callerOf(caller), page, size, sort, ...(cursor !== undefined && { cursor }) };
  const filter_json = JSON.stringify(campaign === undefined ? filter : { ...filter, campaign });
  return answered(await ingest.listCalls({ ...request, filter_json }));
}

/** docs/api.md, "Calls". */
export function calls({ ingest, audio }: Services, publicUrl: PublicUrl, addChoices: AddChoices): Endpoint[] {
  const endpoint = servedBy(ingest, { tag: 'Calls' });
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      roles: EVERY_ROLE,
      query: FirmCallQuery,
      id: 'listCalls',
      summary: 'List calls',
      description: listCallsDescription,
      responses: { 200: { description: 'A page of calls.', schema: CallPage } },
      handle: ({ caller, query }) => listCalls(ingest, caller, query),
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      roles: EVERY_ROLE,
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
            .max(MAX_ETAG_CHARS)
            .optional()
            .meta({ examples: ['W/"0cc175b9c0f1b6a831c399e269772661"'] }),
        },
      },
      async handle({ caller, params, request }) {
        const call_uuid = params.uuid;
        const known = /^(?:W\/)?"([0-9a-f]{32})"$/.exec(request.headers['if-none-match']?.trim() ?? '')?.[1];
        const { version, call } = await readCall(ingest, {
          caller: callerOf(caller),
          call_uuid,
          ...(known !== undefined && { known_version: known }),
        });
        // Weak: the URL of the recording differs in each response.
        const headers = version === undefined ? {} : { etag: `W/"${version}"` };
        if (call === null) return { status: 304, headers };
        const body = await callDetail(
          call,
          (url) => publicUrl(request, url),
          (analyses) => addChoices(caller, analyses),
        );
        return isComplete(body) ? { status: 200, headers, body } : { status: 200, body };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid/playback`,
      roles: EVERY_ROLE,
      id: 'getPlayback',
      summary: 'Get a call ready to be played',
      description:
        'A URL that browsers play, and the peaks of both channels to draw. AIFF, AU and WAV with ADPCM are served as a copy in WAV. Both are made at the first request, which may take some seconds for a long recording, and are erased with the call. 404 for a call without a recording.',
      responses: { 200: { description: 'The URL and the peaks.', schema: Playback } },
      async handle({ caller, params, request }) {
        const call = { firm_uuid: caller.firmUuid, call_uuid: params.uuid };
        const { url, url_expires_at, format, converted, duration, peaks_per_second, left, right } =
          await audio.getPlayback(call, { deadlineMs: PREPARE_MS });
        return {
          body: {
            url: publicUrl(request, url),
            url_expires_at,
            format,
            converted,
            duration,
            peaks: { per_second: peaks_per_second, left: [...left], right: [...right] },
          },
        };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/retry`,
      id: 'retryCall',
      summary: 'Retry a call',
      description: 'Only a failed call whose failure is `retryable` can be retried.',
      responses: { 202: { description: 'The call, queued again.', schema: CallItem } },
      errors: ['NOT_RETRYABLE'],
      async handle({ caller, params }) {
        return answered(await ingest.retryCall({ caller: callerOf(caller), call_uuid: params.uuid }));
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/analyze`,
      id: 'analyzeCall',
      summary: 'Analyze a call again',
      description:
        'Only a call that is completed, or that failed in its analysis. It is scored by the scorecard that is active now. Earlier analyses stay in `analyses`.',
      responses: { 202: { description: 'The call, in analysis.', schema: CallItem } },
      errors: ['INVALID_TRANSITION'],
      async handle({ caller, params }) {
        const call_uuid = params.uuid;
        return answered(await ingest.analyzeCall({ caller: callerOf(caller), call_uuid }));
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      id: 'eraseCall',
      summary: 'Erase a call',
      description:
        'Stops the processing of the call and removes its data: recording, transcript, analyses, history, queued events, and copies in refused rows. Files that were uploaded for its batch are removed too, a ZIP of recordings as soon as no other call needs it. Its `partner_call_id` can be used again. Its batch and campaign still count it, as `erased`. A repeated request returns the receipt while data is still being removed, and 404 afterwards.',
      responses: { 200: { description: 'What was removed, with counts.', schema: ErasureReceipt } },
      async handle({ caller, params, address }) {
        const call = { caller: actorOf(caller, address), call_uuid: params.uuid };
        const { uuid, erased_at, removed } = await ingest.eraseCall(call, { deadlineMs: ERASE_MS });
        return { status: 200, body: { uuid, erased_at, removed } };
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
