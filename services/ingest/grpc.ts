import { CallSort, Export } from '@call-analysis/api/call-query';
import { PageQuery } from '@call-analysis/api/fields';
import { NewComment } from '@call-analysis/api/people';
import { SortableNumber, SpokenWordsQuery, StatisticsQuery } from '@call-analysis/api/statistics';
import { transcriptJson, Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { ingest } from '@call-analysis/proto';
import type { Call } from '@call-analysis/proto/ingest/v1/Call';
import type { Caller } from '@call-analysis/proto/ingest/v1/Caller';
import type { GetCallReply } from '@call-analysis/proto/ingest/v1/GetCallReply';
import type { GetCallRequest } from '@call-analysis/proto/ingest/v1/GetCallRequest';
import type { RegisterCallRequest } from '@call-analysis/proto/ingest/v1/RegisterCallRequest';
import { type Callers, implement, MAX_MESSAGE_BYTES } from '@call-analysis/rpc';
import { answer, apiRequest, apiRpc, PageRequest, present, requireCaller, type Sent } from '@call-analysis/service';
import { z } from 'zod';
import { analyzeCall, swapChannels } from './attempts/analyze-call.ts';
import { retryCall } from './attempts/retry-call.ts';
import type { BatchProgress } from './batches/batch-store.ts';
import type { CallRow } from './calls/call-row.ts';
import { callItem, readCall } from './calls/read-call.ts';
import { StoredRecording } from './calls/recording-store.ts';
import { campaignRpcs } from './campaigns/campaign-rpcs.ts';
import { commentOnCall, deleteComment } from './comments/comment-on-call.ts';
import type { Deps } from './deps.ts';
import { eraseCall, receiptOf } from './erasure/erase-call.ts';
import { exportCalls } from './export/export-calls.ts';
import { openUpload } from './intake/open-upload.ts';
import { processUpload } from './intake/process-upload.ts';
import { type NewRecording, recordAudio, registerCall } from './intake/register-call.ts';
import { jobRpcs } from './jobs/job-rpcs.ts';
import { filterFor, filterOf, type Sort } from './listing/call-filter.ts';
import { countSpokenWords, listCalls } from './listing/list-calls.ts';
import { reviewRpcs } from './reviews/review-rpcs.ts';
import { readStatistics } from './statistics/read-statistics.ts';

/** Who may call a method of proto/ingest.proto, where it is not the gateway alone. */
export const callers: Callers<typeof ingest> = {
  retryFailedCalls: ['admin'],
  registerCall: ['audio'],
  recordAudio: ['audio'],
  findCalls: ['audio'],
};

const Attempt = z.int().min(1);

/** Half of a message: its other half is for the history and the rest of the call. */
const INLINE_BYTES = MAX_MESSAGE_BYTES / 2;
const PIECE_BYTES = 512 * 1024;
/** A reply without what only a gateway of the last release reads. */
const NO_FIELDS = { call: null, audio: null, analyses_json: [], history: [] };

/** The RPCs of this service. The gateway has validated requests, so a fault here is an internal error. */
export function rpcs(deps: Deps) {
  const { uploads, batches, calls, objects } = deps;
  const readDetail = (request: GetCallRequest) =>
    readCall(deps, ...callOf(request), Uuid.optional().parse(request.campaign_uuid) ?? null);

  return implement(ingest, callers, {
    ...campaignRpcs(deps),
    ...reviewRpcs(deps),
    ...jobRpcs(deps),

    openUpload: async (request) =>
      openUpload(deps, requireCaller(request.caller), {
        metadata: z.string().min(4).parse(request.metadata_filename),
        audios: z.string().min(4).optional().parse(request.audios_filename) ?? null,
        campaignUuid: Uuid.optional().parse(request.campaign_uuid) ?? null,
      }),

    processUpload: async (request) => {
      const actor = requireCaller(request.caller);
      const batch = await processUpload(deps, actor, {
        metadataKey: request.metadata_key,
        audiosKey: request.audios_key ?? null,
        onError: z.enum(['reject', 'skip']).parse(request.on_error),
        campaignUuid: Uuid.optional().parse(request.campaign_uuid) ?? null,
      });
      return {
        batch_uuid: batch.uuid,
        accepted: batch.accepted,
        duplicates: batch.duplicates,
        rejected: batch.rejected,
        ignored_columns: batch.ignoredColumns,
        unnamed_files: batch.unnamedFiles,
        ended_duplicates: batch.endedDuplicates,
      };
    },

    downloadRejected: async function* (request) {
      const { firmUuid } = requireCaller(request.caller);
      const key = await deps.rejectedFiles.keyOf(firmUuid, Uuid.parse(request.rejected_uuid), new Date());
      for await (const data of await objects.open(key)) yield { data: data as Buffer };
    },

    exportCalls: async function* (request) {
      const { caller, read } = apiRequest(request);
      const { format, questions, transcripts, tz, headings, call_uuids: uuids, sort, ...filter } = read(Export);
      const pieces = exportCalls(deps, caller, {
        format,
        calls: uuids === undefined ? { filter: filterFor(caller, filter), sort: sortOf(sort) } : { uuids },
        questions: questions === undefined ? [] : await deps.scorecards.questions(caller, questions),
        scorecardUuid: questions ?? null,
        hasTranscripts: transcripts,
        timeZone: tz ?? null,
        headings,
      });
      for await (const data of pieces) yield { data };
    },

    getStorage: async ({ caller }) => {
      const used_bytes = await uploads.storedBytes(requireCaller(caller).firmUuid);
      const { storageQuotaBytes: quota } = deps.limits;
      return { used_bytes, ...(quota !== null && { quota_bytes: quota }) };
    },

    listCalls: async (request) => {
      const { items, count, isEstimate, nextCursor, matches, wordsUntil } = await listCalls(
        deps,
        requireCaller(request.caller).firmUuid,
        {
          filter: filterOf(request),
          sort: sortOf(request.sort),
          cursor: request.cursor ?? null,
          ...PageRequest.parse(request),
        },
      );
      const page = {
        count,
        count_is_estimate: isEstimate,
        items: items.map((item) => ({ ...callItem(item), matches: matches.get(item.uuid) })),
        next_cursor: nextCursor,
        words_until: wordsUntil ?? undefined,
      };
      return answer(request.caller, page, (json) => ({ ...present(json), items: json.items.map(callMessage) }));
    },

    seesCall: async (request) => ({
      sees: await calls.isSeen(...callOf(request), request.caller?.sees_only?.operator_ids ?? null),
    }),

    getCall: async (request) => {
      // Before the rest, so that no version is newer than what it names.
      const version = await calls.version(...callOf(request));
      if (version !== null && version === request.known_version) return { ...NO_FIELDS, version };
      const detail = await readDetail(request);
      const reply = answer(request.caller, detail, detailMessage);
      const is_large = (reply.json?.length ?? 0) > INLINE_BYTES;
      return { ...NO_FIELDS, ...(is_large ? { is_large } : reply), ...present({ version }) };
    },

    readLargeCall: async function* (request) {
      const json = Buffer.from(JSON.stringify(await readDetail(request)));
      for (let at = 0; at < json.length; at += PIECE_BYTES) yield { data: json.subarray(at, at + PIECE_BYTES) };
    },

    retryCall: async (request) => shownCall(request.caller, await retryCall(deps, ...callOf(request))),

    analyzeCall: async (request) => shownCall(request.caller, await analyzeCall(deps, ...callOf(request))),

    swapChannels: apiRpc(async ({ caller, uuid }) => callItem(await swapChannels(deps, caller, uuid))),

    readStatistics: apiRpc(async ({ caller, read }) => {
      const { group_by, sort, tz, limit, ...filter } = read(StatisticsQuery);
      const asked = {
        groupBy: group_by,
        filter: filterFor(caller, filter),
        tz: tz ?? (await deps.firms.find(caller.firmUuid)).timeZone,
        sort:
          sort === undefined
            ? null
            : { by: SortableNumber.parse(sort.replace('-', '')), isDescending: sort.startsWith('-') },
        limit,
      };
      return { group_by, tz: asked.tz, ...(await readStatistics(deps, caller.firmUuid, asked)) };
    }),

    countSpokenWords: apiRpc(({ caller, read }) =>
      countSpokenWords(deps, caller.firmUuid, filterFor(caller, read(SpokenWordsQuery))),
    ),

    addComment: apiRpc(({ caller, uuid, read }) => commentOnCall(deps, caller, uuid, read(NewComment))),

    listComments: apiRpc(async ({ caller: { firmUuid }, uuid, read }) => {
      // An unknown call is NOT_FOUND, not an empty list.
      await calls.get(firmUuid, uuid);
      return deps.comments.list(firmUuid, uuid, read(PageQuery));
    }),

    deleteComment: apiRpc(({ caller, uuid, partUuid }) => deleteComment(deps, caller, uuid, partUuid)),

    eraseCall: async (request) =>
      receiptOf(await eraseCall(deps, ...callOf(request), { by: requireCaller(request.caller) })),

    getBatch: async ({ caller, batch_uuid }) => {
      const batch = await batches.get(requireCaller(caller).firmUuid, Uuid.parse(batch_uuid));
      return answer(caller, batch, batchMessage);
    },

    listBatches: async (request) => {
      const { firmUuid } = requireCaller(request.caller);
      const page = await batches.list(firmUuid, PageRequest.parse(request));
      return answer(request.caller, page, (json) => ({ ...json, items: json.items.map(batchMessage) }));
    },

    registerCall: async (request) =>
      registerCall(deps, requireCaller(request.caller), {
        callUuid: Uuid.parse(request.call_uuid),
        fileName: request.file_name,
        metadata: request.metadata,
        found: foundOf(request),
        campaignUuid: Uuid.optional().parse(request.campaign_uuid) ?? null,
      }),

    recordAudio: async (request) => {
      await recordAudio(deps, {
        firmUuid: Uuid.parse(request.firm_uuid),
        callUuid: Uuid.parse(request.call_uuid),
        attempt: Attempt.parse(request.attempt),
        recording: StoredRecording.parse(request.recording),
      });
      return {};
    },

    findCalls: async (request) => ({
      call_uuids: await calls.known(Uuid.parse(request.firm_uuid), z.array(Uuid).parse(request.call_uuids)),
    }),
  });
}

/** The firm and the call of a request. */
function callOf({ caller, call_uuid }: Pick<GetCallRequest, 'caller' | 'call_uuid'>): [string, string] {
  return [requireCaller(caller).firmUuid, Uuid.parse(call_uuid)];
}

function sortOf(text: string): Sort {
  const name = CallSort.parse(text === '' ? '-created_at' : text);
  const by = name.replace('-', '') as Sort['by'];
  return { by, isDescending: name.startsWith('-') };
}

function foundOf({ recording, fault }: RegisterCallRequest): NewRecording['found'] {
  if (fault === undefined || fault === null) return { recording: StoredRecording.parse(recording) };
  return { fault: new Fault('invalid', fault.code, fault.message) };
}

/** A call as the last release sent it. */
function callMessage(item: { readonly [Name in string]: unknown }): Call {
  const { batch_id: batch_uuid, campaign_id: campaign_uuid, failure, ...same } = item;
  return { ...present({ ...same, batch_uuid, campaign_uuid }), failure } as unknown as Call;
}

function shownCall(caller: Caller | null, row: CallRow) {
  return answer(caller, callItem(row), callMessage);
}

/** As the last release sent it. */
function detailMessage(call: Sent<Awaited<ReturnType<typeof readCall>>>): GetCallReply {
  return {
    call: callMessage(call),
    ...(call.transcript !== null && { transcript_json: transcriptJson(call.transcript) }),
    analyses_json: call.analyses.map(({ questions: _questions, answered: _answered, ...analysis }) =>
      JSON.stringify(analysis),
    ),
    history: call.history.map(present),
    audio: call.audio && present(call.audio),
  };
}

function batchMessage({ batch_id, rejected_csv_url, ...same }: Sent<BatchProgress>) {
  return present({ ...same, batch_uuid: batch_id, rejected_uuid: rejected_csv_url && rejected_csv_url.slice(-36) });
}
