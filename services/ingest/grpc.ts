import { CallSort } from '@call-analysis/api/call-query';
import { ExportFormat } from '@call-analysis/api/calls';
import { AudioFormat, Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { ingest } from '@call-analysis/proto';
import type { Audio } from '@call-analysis/proto/ingest/v1/Audio';
import type { Batch } from '@call-analysis/proto/ingest/v1/Batch';
import type { GetCallRequest } from '@call-analysis/proto/ingest/v1/GetCallRequest';
import type { Recording } from '@call-analysis/proto/ingest/v1/Recording';
import type { RegisterCallRequest } from '@call-analysis/proto/ingest/v1/RegisterCallRequest';
import { implement, MAX_MESSAGE_BYTES } from '@call-analysis/rpc';
import { requireCaller } from '@call-analysis/service';
import { z } from 'zod';
import { analyzeCall, swapChannels } from './attempts/analyze-call.ts';
import { retryCall } from './attempts/retry-call.ts';
import type { BatchProgress } from './batches/batch-store.ts';
import { callers } from './callers.ts';
import { type CallDetail, readCall } from './calls/read-call.ts';
import type { StoredRecording } from './calls/recording-store.ts';
import { campaignRpcs } from './campaigns/campaign-rpcs.ts';
import { commentRpcs } from './comments/comment-rpcs.ts';
import type { Deps } from './deps.ts';
import { eraseCall } from './erasure/erase-call.ts';
import { exportCalls } from './export/export-calls.ts';
import { openUpload } from './intake/open-upload.ts';
import { processUpload } from './intake/process-upload.ts';
import { recordAudio } from './intake/record-audio.ts';
import { type NewRecording, registerCall } from './intake/register-call.ts';
import { jobRpcs } from './jobs/job-rpcs.ts';
import type { Sort } from './listing/call-filter.ts';
import { callMessage, filterOf, present } from './listing/call-messages.ts';
import { listCalls } from './listing/list-calls.ts';
import { reviewRpcs } from './reviews/review-rpcs.ts';
import { statisticRpcs } from './statistics/statistic-rpcs.ts';

const Page = z.int().min(1);
const Size = z.int().min(1).max(100);
const Attempt = z.int().min(1);

const Stored = z.object({
  object_key: z.string().min(1),
  format: AudioFormat,
  codec: z.string().min(1),
  channels: z.int().min(1),
  sample_rate: z.int().min(1),
  duration: z.number().min(0),
  size_bytes: z.int().min(0),
  sha256: z.instanceof(Buffer).refine((sum) => sum.length === 32),
});

/** Half of a message: its other half is for the history and the rest of the call. */
const INLINE_BYTES = MAX_MESSAGE_BYTES / 2;
const PIECE_BYTES = 512 * 1024;

/** The RPCs of this service. The gateway has validated requests, so a fault here is an internal error. */
export function rpcs(deps: Deps) {
  const { uploads, batches, calls, objects } = deps;
  const readDetail = ({ caller, call_uuid, campaign_uuid }: GetCallRequest) =>
    readCall(deps, requireCaller(caller).firmUuid, Uuid.parse(call_uuid), Uuid.optional().parse(campaign_uuid) ?? null);
  return implement(ingest, callers, {
    ...campaignRpcs(deps),
    ...reviewRpcs(deps),
    ...statisticRpcs(deps, filterOf),
    ...commentRpcs(deps),
    ...jobRpcs(deps, filterOf),

    openUpload: async (request) => {
      const { metadata, audios, expiresIn } = await openUpload(deps, requireCaller(request.caller), {
        metadata: z.string().min(4).parse(request.metadata_filename),
        audios: z.string().min(4).optional().parse(request.audios_filename) ?? null,
        campaignUuid: Uuid.optional().parse(request.campaign_uuid) ?? null,
      });
      return {
        metadata_upload_url: metadata.url,
        metadata_key: metadata.key,
        ...(audios === null ? {} : { audio_upload_url: audios.url, audio_key: audios.key }),
        expires_in: expiresIn,
      };
    },

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

    exportCalls: async function* ({ listing, format, scorecard_uuid, questions, transcripts, headings, tz }) {
      const { caller } = listing!;
      const pieces = exportCalls(deps, requireCaller(caller), {
        format: ExportFormat.parse(format),
        calls: { filter: filterOf(listing!, caller), sort: sortOf(listing!.sort) },
        questions,
        scorecardUuid: scorecard_uuid ?? null,
        hasTranscripts: transcripts,
        timeZone: tz ?? null,
        headings: headings ?? {},
      });
      for await (const data of pieces) yield { data };
    },

    exportSelectedCalls: async function* ({
      caller,
      call_uuids,
      format,
      scorecard_uuid,
      questions,
      transcripts,
      headings,
      tz,
    }) {
      const pieces = exportCalls(deps, requireCaller(caller), {
        format: ExportFormat.parse(format),
        calls: { uuids: call_uuids },
        questions,
        scorecardUuid: scorecard_uuid ?? null,
        hasTranscripts: transcripts,
        timeZone: tz ?? null,
        headings: headings ?? {},
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
          filter: filterOf(request, request.caller),
          sort: sortOf(request.sort),
          page: Page.parse(request.page),
          cursor: request.cursor ?? null,
          size: Size.parse(request.size),
        },
      );
      return {
        count,
        items: items.map((item) => ({
          ...callMessage(item),
          ...(matches.has(item.uuid) && { matches_json: JSON.stringify(matches.get(item.uuid)) }),
        })),
        count_is_estimate: isEstimate,
        ...present({ next_cursor: nextCursor, words_until: wordsUntil?.toISOString() ?? null }),
      };
    },

    seesCall: async ({ caller, call_uuid }) => {
      const seen = caller?.sees_only?.operator_ids ?? null;
      return { sees: await calls.isSeen(requireCaller(caller).firmUuid, Uuid.parse(call_uuid), seen) };
    },

    getCall: async (request) => {
      // Before the rest, so that no version is newer than what it names.
      const version = await calls.version(requireCaller(request.caller).firmUuid, Uuid.parse(request.call_uuid));
      if (version !== null && version === request.known_version)
        return { call: null, audio: null, analyses_json: [], history: [], version };
      const detail = await readDetail(request);
      const documents = documentsOf(detail);
      const bytes = [documents.transcript_json ?? '', ...documents.analyses_json].map((json) =>
        Buffer.byteLength(json),
      );
      const is_large = bytes.reduce((sum, each) => sum + each) > INLINE_BYTES;
      return {
        call: callMessage(detail.call),
        ...(is_large ? { is_large, analyses_json: [] } : documents),
        history: detail.history.map(({ status, at, detail: note }) => ({ status, at, ...present({ detail: note }) })),
        audio: detail.audio === null ? null : audioMessage(detail.audio),
        ...present({ audio_erased_at: detail.audioErasedAt, transcript_erased_at: detail.transcriptErasedAt, version }),
      };
    },

    readLargeCall: async function* (request) {
      const json = Buffer.from(JSON.stringify(documentsOf(await readDetail(request))));
      for (let at = 0; at < json.length; at += PIECE_BYTES) yield { data: json.subarray(at, at + PIECE_BYTES) };
    },

    retryCall: async (request) =>
      callMessage(await retryCall(deps, requireCaller(request.caller).firmUuid, Uuid.parse(request.call_uuid))),

    analyzeCall: async (request) =>
      callMessage(await analyzeCall(deps, requireCaller(request.caller).firmUuid, Uuid.parse(request.call_uuid))),

    swapChannels: async (request) =>
      callMessage(await swapChannels(deps, requireCaller(request.caller), Uuid.parse(request.call_uuid))),

    eraseCall: async (request) => {
      const { callUuid, erasedAt, removed } = await eraseCall(
        deps,
        requireCaller(request.caller).firmUuid,
        Uuid.parse(request.call_uuid),
        { by: requireCaller(request.caller) },
      );
      return { uuid: callUuid, erased_at: erasedAt.toISOString(), removed: removed.map((each) => ({ ...each })) };
    },

    getBatch: async (request) =>
      batchMessage(await batches.get(requireCaller(request.caller).firmUuid, Uuid.parse(request.batch_uuid))),

    listBatches: async (request) => {
      const { count, items } = await batches.list(
        requireCaller(request.caller).firmUuid,
        Page.parse(request.page),
        Size.parse(request.size),
      );
      return { count, items: items.map(batchMessage) };
    },

    registerCall: async (request) => {
      const { callUuid, ignoredFields, isRepeated, hasEnded } = await registerCall(
        deps,
        requireCaller(request.caller),
        {
          callUuid: Uuid.parse(request.call_uuid),
          fileName: request.file_name,
          metadata: request.metadata,
          found: foundOf(request),
          campaignUuid: Uuid.optional().parse(request.campaign_uuid) ?? null,
        },
      );
      return {
        call_uuid: callUuid,
        ignored_fields: [...ignoredFields],
        ...(isRepeated && { repeated_upload: true, has_ended: hasEnded }),
      };
    },

    recordAudio: async (request) => {
      await recordAudio(deps, {
        firmUuid: Uuid.parse(request.firm_uuid),
        callUuid: Uuid.parse(request.call_uuid),
        attempt: Attempt.parse(request.attempt),
        recording: storedOf(request.recording),
        traceparent: request.traceparent,
      });
      return {};
    },

    findCalls: async (request) => ({
      call_uuids: await calls.known(Uuid.parse(request.firm_uuid), z.array(Uuid).parse(request.call_uuids)),
    }),
  });
}

function sortOf(text: string): Sort {
  const name = CallSort.parse(text === '' ? '-created_at' : text);
  const by = name.replace('-', '') as Sort['by'];
  return { by, isDescending: name.startsWith('-') };
}

function foundOf({ recording, fault }: RegisterCallRequest): NewRecording['found'] {
  if (fault === undefined || fault === null) return { recording: storedOf(recording) };
  return { fault: new Fault('invalid', fault.code, fault.message) };
}

function storedOf(recording: Recording | null | undefined): StoredRecording {
  const { object_key, sample_rate, size_bytes, ...rest } = Stored.parse(recording);
  return { ...rest, objectKey: object_key, sampleRate: sample_rate, sizeBytes: size_bytes };
}

function documentsOf({ transcript, analyses }: CallDetail) {
  return {
    ...(transcript !== null && { transcript_json: JSON.stringify(transcript) }),
    analyses_json: analyses.map((analysis) => JSON.stringify(analysis)),
  };
}

function audioMessage(audio: NonNullable<CallDetail['audio']>): Audio {
  return {
    file_name: audio.fileName,
    left_channel: audio.left,
    right_channel: audio.right,
    format: audio.format,
    channels: audio.channels,
    sample_rate: audio.sampleRate,
    duration: audio.duration,
    size: audio.sizeBytes,
    url: audio.url,
    url_expires_at: audio.urlExpiresAt.toISOString(),
  };
}

function batchMessage(batch: BatchProgress): Batch {
  return {
    batch_uuid: batch.uuid,
    kind: batch.kind,
    created_at: batch.createdAt.toISOString(),
    accepted: batch.accepted,
    duplicates: batch.duplicates,
    rejected: batch.rejected,
    by_status: batch.byStatus,
    erased: batch.erased,
    ...present({
      finished_at: batch.finishedAt?.toISOString() ?? null,
      rejected_uuid: batch.rejectedUuid,
      file_name: batch.fileName,
      archive_name: batch.archiveName,
      uploaded_by: batch.uploadedBy,
    }),
  };
}
