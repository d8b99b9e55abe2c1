import type { Bus } from '@call-analysis/bus';
import { unavailable } from '@call-analysis/fault';
import type { Objects } from '@call-analysis/objects';
import type { Actor } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import { retryIf } from '../attempts/retry-failed.ts';
import { eraseCall, unlessErased } from '../erasure/erase-call.ts';
import type { Limits } from '../limits.ts';
import { listCalls } from '../listing/list-calls.ts';
import type { ActiveScorecards } from '../reviews/scorecards.ts';
import { type CallFilter, type Erasure, NO_FILTER, type Store } from '../store/index.ts';
import type { NewJob, Selection } from './job-store.ts';
import { matchingCalls } from './matching-calls.ts';

/** Failed calls that one request looks at. */
const PAGE = 200;

/**
 * Starts a new attempt of a firm's calls that failed with this code, also where that is permanent: one page of them, those
 * before `after` only. `next` is null after the last page. May be repeated at any point.
 */
export async function retryFailedCalls(
  deps: Parameters<typeof retryIf>[0],
  firmUuid: string,
  code: string,
  after: string | null,
  page = PAGE,
): Promise<{ retried: number; next: string | null }> {
  const { store } = deps;
  const failed = await matchingCalls(store, firmUuid, { ...NO_FILTER, status: ['failed'] }, after, page);
  if (failed === null) throw unavailable('The index of calls');
  let retried = 0;
  for (const uuid of await store.calls.failedWith(firmUuid, failed, code)) {
    const isRetried = await retryIf(
      deps,
      firmUuid,
      uuid,
      ({ status, failure }) => status === 'failed' && failure?.code === code,
    );
    if (isRetried) retried += 1;
  }
  return { retried, next: failed.length < page ? null : failed.at(-1)! };
}

interface Deps {
  readonly store: Store;
  readonly bus: Bus;
  readonly objects: Objects;
  readonly limits: Limits;
}

/** More calls are erased by a job (docs/api.md, "Calls"). */
const ERASED_AT_ONCE = 100;
/** Calls whose transcripts are measured for an estimate. */
const MEASURED_CALLS = 500;

interface ErasedCalls {
  readonly calls: number;
  readonly receipts: readonly Erasure[];
  /** Of the job that erases them, where they are too many for one request. */
  readonly jobUuid: string | null;
}

/**
 * Erases the calls with this phone number, or only counts them. Calls that another request erases meanwhile are left out of
 * the answer.
 */
export async function eraseCallsOfNumber(
  deps: Deps,
  actor: Actor,
  clientPhoneNumber: string,
  isDryRun: boolean,
): Promise<ErasedCalls> {
  const { store } = deps;
  const { firmUuid, ...by } = actor;
  const filter = { ...NO_FILTER, client_phone_number: clientPhoneNumber };
  const first = await matchingCalls(store, firmUuid, filter, null, ERASED_AT_ONCE + 1);
  if (first === null) throw unavailable('The index of words');
  const isMany = first.length > ERASED_AT_ONCE;
  const calls = isMany ? (await countCalls(store, firmUuid, filter)).calls : first.length;
  if (isDryRun) return { calls, receipts: [], jobUuid: null };
  if (isMany)
    return {
      calls,
      receipts: [],
      jobUuid: await addJob(store, { ...actor, kind: 'erase_calls', filter, scorecardUuid: null, total: calls }),
    };
  const receipts: Erasure[] = [];
  for (const uuid of first)
    await eraseCall(deps, firmUuid, uuid, { by }).then((receipt) => receipts.push(receipt), unlessErased);
  return { calls: receipts.length, receipts, jobUuid: null };
}

/**
 * Has the calls of a filter or a selection analyzed again, by a scorecard or by the active one of each. Returns the uuid of
 * the job. Fault VALIDATION_ERROR for a scorecard that is not the firm's, or not active.
 */
export async function analyzeCalls(
  deps: Pick<Deps, 'store'> & { readonly scorecards: ActiveScorecards },
  actor: Actor,
  filter: CallFilter | Selection,
  scorecardUuid: string | null = null,
): Promise<string> {
  if (scorecardUuid !== null) await deps.scorecards.requireActive(actor, scorecardUuid);
  const { calls } = await countCalls(deps.store, actor.firmUuid, filter);
  return addJob(deps.store, { ...actor, kind: 'analyze_calls', filter, scorecardUuid, total: calls });
}

/** How many calls match, and about how many bytes of text their transcripts have. */
export async function measureCalls(
  store: Store,
  firmUuid: string,
  filter: CallFilter | Selection,
): Promise<{ calls: number; textBytes: number }> {
  const { calls, uuids } = await countCalls(store, firmUuid, filter, MEASURED_CALLS);
  if (uuids.length === 0) return { calls, textBytes: 0 };
  return { calls, textBytes: Math.round((calls * (await store.calls.textBytes(firmUuid, uuids))) / uuids.length) };
}

async function countCalls(
  store: Store,
  firmUuid: string,
  filter: CallFilter | Selection,
  size = 1,
): Promise<{ calls: number; uuids: string[] }> {
  if ('callUuids' in filter) {
    const all = { after: null, limit: filter.callUuids.length };
    const uuids = await store.listing.known(firmUuid, filter.callUuids, all);
    return { calls: uuids.length, uuids: uuids.slice(0, size) };
  }
  const sort = { by: 'created_at', isDescending: true } as const;
  const { count, items } = await listCalls(store, firmUuid, { filter, sort, page: 1, cursor: null, size });
  return { calls: count, uuids: items.map(({ uuid }) => uuid) };
}

async function addJob({ db, jobs }: Store, job: Omit<NewJob, 'uuid'>): Promise<string> {
  const uuid = uuidv7();
  await jobs.add(db, { ...job, uuid });
  return uuid;
}
