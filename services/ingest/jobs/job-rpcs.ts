import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Caller } from '@call-analysis/proto/ingest/v1/Caller';
import type { ListCallsRequest } from '@call-analysis/proto/ingest/v1/ListCallsRequest';
import type { Handlers } from '@call-analysis/rpc';
import { requireCaller } from '@call-analysis/service';
import { z } from 'zod';
import { answerOf } from '../answer.ts';
import type { RetryDeps } from '../attempts/retry-call.ts';
import type { CallFilter } from '../listing/call-filter.ts';
import type { Job } from './job-store.ts';
import { retryFailedCalls, analyzeCalls, eraseCallsOfNumber, measureCalls } from './start-jobs.ts';

const Uuids = z.array(Uuid);

/** The RPCs for actions on many calls. `filterOf` translates the filter of a listing. */
export function jobRpcs(
  deps: Parameters<typeof eraseCallsOfNumber>[0] & Parameters<typeof analyzeCalls>[0] & RetryDeps,
  filterOf: (request: ListCallsRequest, caller: Caller | null) => CallFilter,
): Pick<
  Handlers<typeof ingest>,
  | 'eraseCallsOfNumber'
  | 'analyzeCalls'
  | 'measureCalls'
  | 'analyzeSelectedCalls'
  | 'measureSelectedCalls'
  | 'retryFailedCalls'
  | 'getJob'
  | 'cancelJob'
> {
  const { jobs } = deps;
  return {
    eraseCallsOfNumber: async (request) => {
      const number = z.string().min(1).parse(request.client_phone_number);
      const erased = await eraseCallsOfNumber(deps, requireCaller(request.caller), number, request.dry_run);
      return {
        calls: erased.calls,
        receipts: erased.receipts.map(({ callUuid, erasedAt, removed }) => ({
          uuid: callUuid,
          erased_at: erasedAt.toISOString(),
          removed: removed.map((each) => ({ ...each })),
        })),
        ...(erased.jobUuid !== null && { job_uuid: erased.jobUuid }),
      };
    },
    analyzeCalls: async (request) => ({
      job_uuid: await analyzeCalls(
        deps,
        requireCaller(request.caller),
        filterOf(request.filter!, request.caller),
        Uuid.optional().parse(request.scorecard_uuid) ?? null,
      ),
    }),
    measureCalls: async (request) => {
      const { calls, textBytes } = await measureCalls(
        deps,
        requireCaller(request.caller).firmUuid,
        filterOf(request.filter!, request.caller),
      );
      return { calls, text_bytes: textBytes };
    },
    analyzeSelectedCalls: async (request) => ({
      job_uuid: await analyzeCalls(
        deps,
        requireCaller(request.caller),
        { callUuids: Uuids.parse(request.call_uuids) },
        Uuid.optional().parse(request.scorecard_uuid) ?? null,
      ),
    }),
    measureSelectedCalls: async (request) => {
      const selection = { callUuids: Uuids.parse(request.call_uuids) };
      const { calls, textBytes } = await measureCalls(deps, requireCaller(request.caller).firmUuid, selection);
      return { calls, text_bytes: textBytes };
    },
    retryFailedCalls: async ({ firm_uuid, code, after }) => {
      const firmUuid = Uuid.parse(firm_uuid);
      const position = Uuid.optional().parse(after) ?? null;
      const { retried, next } = await retryFailedCalls(deps, firmUuid, z.string().min(1).parse(code), position);
      return { retried, ...(next !== null && { next }) };
    },
    getJob: async (request) =>
      shownJob(await jobs.get(requireCaller(request.caller).firmUuid, Uuid.parse(request.job_uuid))),
    cancelJob: async (request) =>
      shownJob(await jobs.cancel(requireCaller(request.caller).firmUuid, Uuid.parse(request.job_uuid))),
  };
}

/** docs/api.md, "Jobs". */
function shownJob({ uuid, kind, status, total, done, failed, createdAt, finishedAt }: Job) {
  return answerOf({ job_id: uuid, kind, status, total, done, failed, created_at: createdAt, finished_at: finishedAt });
}
