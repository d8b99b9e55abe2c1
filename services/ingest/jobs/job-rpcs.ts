import { ErasedNumber, NewAnalyses } from '@call-analysis/api/jobs';
import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Handlers } from '@call-analysis/rpc';
import { type ApiRequest, apiRpc } from '@call-analysis/service';
import { z } from 'zod';
import type { RetryDeps } from '../attempts/retry-call.ts';
import { receiptOf } from '../erasure/erase-call.ts';
import { filterFor } from '../listing/call-filter.ts';
import type { Job } from './job-store.ts';
import { analyzeCalls, eraseCallsOfNumber, measureCalls, retryFailedCalls } from './start-jobs.ts';

export function jobRpcs(
  deps: Parameters<typeof eraseCallsOfNumber>[0] & Parameters<typeof analyzeCalls>[0] & RetryDeps,
) {
  const { jobs } = deps;
  return {
    eraseCallsOfNumber: apiRpc(async ({ caller, read }) => {
      const { client_phone_number, dry_run } = read(ErasedNumber);
      const { calls, receipts, jobUuid } = await eraseCallsOfNumber(deps, caller, client_phone_number, dry_run);
      return jobUuid === null ? { calls, receipts: receipts.map(receiptOf) } : { job_id: jobUuid };
    }),
    analyzeCalls: apiRpc(async (request) => {
      const { filter, scorecardUuid } = chosenBy(request);
      return { job_id: await analyzeCalls(deps, request.caller, filter, scorecardUuid) };
    }),
    measureCalls: apiRpc(async (request) => {
      const { calls, textBytes } = await measureCalls(deps, request.caller.firmUuid, chosenBy(request).filter);
      return { calls, text_bytes: textBytes };
    }),
    retryFailedCalls: async ({ firm_uuid, code, after }) => {
      const firmUuid = Uuid.parse(firm_uuid);
      const position = Uuid.optional().parse(after) ?? null;
      const { retried, next } = await retryFailedCalls(deps, firmUuid, z.string().min(1).parse(code), position);
      return { retried, ...(next !== null && { next }) };
    },
    getJob: apiRpc(async ({ caller, uuid }) => shownJob(await jobs.get(caller.firmUuid, uuid))),
    cancelJob: apiRpc(async ({ caller, uuid }) => shownJob(await jobs.cancel(caller.firmUuid, uuid))),
  } satisfies Partial<Handlers<typeof ingest>>;
}

function chosenBy({ caller, read }: ApiRequest) {
  const { filter, call_uuids: callUuids, scorecard_uuid: scorecardUuid = null } = read(NewAnalyses);
  return { filter: callUuids === undefined ? filterFor(caller, filter!) : { callUuids }, scorecardUuid };
}

/** docs/api.md, "Jobs". */
function shownJob({ uuid, kind, status, total, done, failed, createdAt, finishedAt }: Job) {
  return { job_id: uuid, kind, status, total, done, failed, created_at: createdAt, finished_at: finishedAt };
}
