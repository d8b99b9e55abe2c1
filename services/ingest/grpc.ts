import type { Bus } from '@call-analysis/bus';
import type { Objects } from '@call-analysis/objects';
import { ingest } from '@call-analysis/proto';
import type { Batch } from '@call-analysis/proto/ingest/v1/Batch';
import type { Call } from '@call-analysis/proto/ingest/v1/Call';
import type { Caller } from '@call-analysis/proto/ingest/v1/Caller';
import { implement } from '@call-analysis/rpc';
import { z } from 'zod';
import type { Firms } from './firms.ts';
import type { Limits } from './config.ts';
import { openUpload } from './open-upload.ts';
import { processUpload } from './process-upload.ts';
import { retryCall } from './retry-call.ts';
import type { BatchProgress, CallRow, Store } from './store/index.ts';
import type { Owner } from './store/uploads.ts';
import { readCall } from './read-call.ts';

const Uuid = z.uuid();
const Page = z.int().min(1);
const Size = z.int().min(1).max(100);

/** What this service serves. Requests were validated at the edge; here they are only made sure of. */
export function rpcs(parts: { store: Store; bus: Bus; objects: Objects; firms: Firms; limits: Limits }) {
  const { store, objects, firms, limits } = parts;
  return implement(ingest, {
    openUpload: async (request) => {
      const opened = await openUpload(
        { store, objects, firms, maxCsvBytes: limits.csvBytes },
        owner(request.caller),
        { metadata: z.string().min(5).parse(request.metadata_filename), audios: request.audios_filename ?? null },
      );
      return {
        metadata_upload_url: opened.metadataUrl,
        metadata_key: opened.metadataKey,
        expires_in: opened.expiresIn,
      };
    },

    processUpload: async (request) => {
      const batch = await processUpload(parts, owner(request.caller), {
        metadataKey: request.metadata_key,
        audiosKey: request.audios_key ?? null,
        onError: z.enum(['reject', 'skip']).parse(request.on_error),
      });
      return {
        batch_id: batch.uuid,
        accepted: batch.accepted,
        duplicates: batch.duplicates,
        rejected: batch.rejected,
        ignored_columns: batch.ignoredColumns,
      };
    },

    downloadRejected: async function* (request) {
      const { firmUuid } = owner(request.caller);
      const key = await store.batches.rejectedKey(firmUuid, Uuid.parse(request.rejected_uuid), new Date());
      for await (const data of await objects.open(key)) yield { data: data as Buffer };
    },

    listCalls: async (request) => {
      const { count, items } = await store.calls.list(
        owner(request.caller).firmUuid,
        { status: request.status, batch: request.batch ?? null, partnerCallId: request.partner_call_id ?? null },
        Page.parse(request.page),
        Size.parse(request.size),
      );
      return { count, items: items.map(callMessage) };
    },

    getCall: async (request) => {
      const detail = await readCall(store, owner(request.caller).firmUuid, Uuid.parse(request.call_uuid));
      return {
        call: callMessage(detail.call),
        ...(detail.transcript === null ? {} : { transcript_json: JSON.stringify(detail.transcript) }),
        analyses_json: [...detail.analyses],
        history: detail.history.map(({ detail: note, ...entry }) => ({ ...entry, ...given({ detail: note }) })),
      };
    },

    retryCall: async (request) =>
      callMessage(await retryCall(parts, owner(request.caller).firmUuid, Uuid.parse(request.call_uuid))),

    getBatch: async (request) =>
      batchMessage(await store.batches.get(owner(request.caller).firmUuid, Uuid.parse(request.batch_id))),

    listBatches: async (request) => {
      const { count, items } = await store.batches.list(
        owner(request.caller).firmUuid,
        Page.parse(request.page),
        Size.parse(request.size),
      );
      return { count, items: items.map(batchMessage) };
    },
  });
}

function owner(caller: Caller | null | undefined): Owner {
  return { firmUuid: Uuid.parse(caller?.firm_uuid), userUuid: Uuid.parse(caller?.user_uuid) };
}

function callMessage(call: CallRow): Call {
  return {
    uuid: call.uuid,
    source: call.source,
    status: call.status,
    client_phone_number: call.client_phone_number,
    operator_name: call.operator_name,
    segment_type: call.segment_type,
    start_time: call.start_time.toISOString(),
    created_at: call.created_at.toISOString(),
    updated_at: call.updated_at.toISOString(),
    failure: call.failure,
    ...given({
      outcome: call.outcome,
      partner_call_id: call.partner_call_id,
      operator_id: call.operator_id,
      operator_group_name: call.operator_group_name,
      direction: call.direction,
      duration: call.duration,
      disconnect_reason: call.disconnect_reason,
      language: call.language,
      score: call.score,
      batch_id: call.batch_uuid,
      campaign_id: call.campaign_uuid,
    }),
  };
}

function batchMessage(batch: BatchProgress): Batch {
  return {
    batch_id: batch.uuid,
    kind: batch.kind,
    created_at: batch.createdAt.toISOString(),
    accepted: batch.accepted,
    duplicates: batch.duplicates,
    rejected: batch.rejected,
    by_status: batch.byStatus,
    ...given({ finished_at: batch.finishedAt?.toISOString() ?? null, rejected_uuid: batch.rejectedUuid }),
  };
}

/** Only what is known; in a message the unknown is absent. */
function given<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };
}
