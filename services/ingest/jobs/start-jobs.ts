import { unavailable } from '@call-analysis/fault';
import type { Actor } from '@call-analysis/service';
import { type RetryDeps, retryIf } from '../attempts/retry-call.ts';
import type { Calls } from '../calls/call-store.ts';
import { eraseCall, type EraseDeps, unlessErased } from '../erasure/erase-call.ts';
import type { Erasure } from '../erasure/erasure-store.ts';
import { type CallFilter, NO_FILTER } from '../listing/call-filter.ts';
import { listCalls, type ListDeps } from '../listing/list-calls.ts';
import type { ActiveScorecards } from '../reviews/scorecards.ts';
import type { Jobs, Selection } from './job-store.ts';

/** Failed calls that one request looks at. */
const PAGE = 200;

/**
 * Starts a new attempt of a firm's calls that failed with this code, also where that is permanent: one page of them, those
 * before `after` only. `next` is null after the last page. May be repeated at any point.
 */
export async function retryFailedCalls(
  deps: RetryDeps & ListDeps,
  firmUuid: string,
  code: string,
  after: string | null,
  page = PAGE,
): Promise<{ retried: number; next: string | null }> {
  const { calls } = deps;
  const failed = await matchingCalls(deps, firmUuid, { ...NO_FILTER, status: ['failed'] }, after, page);
  if (failed === null) throw unavailable('The index of calls');
  let retried = 0;
  for (const uuid of await calls.failedWith(firmUuid, failed, code)) {
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

interface AddDeps extends ListDeps {
  readonly jobs: Jobs;
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
  deps: AddDeps & EraseDeps,
  actor: Actor,
  clientPhoneNumber: string,
  isDryRun: boolean,
): Promise<ErasedCalls> {
  const { firmUuid, ...by } = actor;
  const filter = { ...NO_FILTER, client_phone_number: clientPhoneNumber };
  const first = await matchingCalls(deps, firmUuid, filter, null, ERASED_AT_ONCE + 1);
  if (first === null) throw unavailable('The index of words');
  const isMany = first.length > ERASED_AT_ONCE;
  const calls = isMany ? (await countCalls(deps, firmUuid, filter)).calls : first.length;
  if (isDryRun) return { calls, receipts: [], jobUuid: null };
  if (isMany)
    return {
      calls,
      receipts: [],
      jobUuid: await deps.jobs.add({ ...actor, kind: 'erase_calls', filter, scorecardUuid: null, total: calls }),
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
  deps: AddDeps & { readonly scorecards: ActiveScorecards },
  actor: Actor,
  filter: CallFilter | Selection,
  scorecardUuid: string | null = null,
): Promise<string> {
  if (scorecardUuid !== null) await deps.scorecards.requireActive(actor, scorecardUuid);
  const { calls } = await countCalls(deps, actor.firmUuid, filter);
  return deps.jobs.add({ ...actor, kind: 'analyze_calls', filter, scorecardUuid, total: calls });
}

/** How many calls match, and about how many bytes of text their transcripts have. */
export async function measureCalls(
  deps: ListDeps & { readonly calls: Calls },
  firmUuid: string,
  filter: CallFilter | Selection,
): Promise<{ calls: number; textBytes: number }> {
  const { calls, uuids } = await countCalls(deps, firmUuid, filter, MEASURED_CALLS);
  if (uuids.length === 0) return { calls, textBytes: 0 };
  return { calls, textBytes: Math.round((calls * (await deps.calls.textBytes(firmUuid, uuids))) / uuids.length) };
}

async function countCalls(
  deps: ListDeps,
  firmUuid: string,
  filter: CallFilter | Selection,
  size = 1,
): Promise<{ calls: number; uuids: string[] }> {
  if ('callUuids' in filter) {
    const all = { after: null, limit: filter.callUuids.length };
    const uuids = await deps.listing.known(firmUuid, filter.callUuids, all);
    return { calls: uuids.length, uuids: uuids.slice(0, size) };
  }
  const sort = { by: 'created_at', isDescending: true } as const;
  const { count, items } = await listCalls(deps, firmUuid, { filter, sort, page: 1, cursor: null, size });
  return { calls: count, uuids: items.map(({ uuid }) => uuid) };
}

/** How long the words of the firm's calls may take to be indexed. */
const CATCH_UP_MS = 20_000;

/**
 * The next calls that match, from the newest on, those before `after` only. None is missing: null when words are searched and
 * those of all calls are not indexed in time.
 */
export async function matchingCalls(
  deps: Pick<ListDeps, 'listing' | 'words'>,
  firmUuid: string,
  filter: CallFilter | Selection,
  after: string | null,
  limit: number,
): Promise<string[] | null> {
  if ('callUuids' in filter) return deps.listing.known(firmUuid, filter.callUuids, { after, limit });
  if (filter.q !== undefined && !(await deps.words.catchUp(firmUuid, CATCH_UP_MS))) return null;
  const words = filter.q === undefined ? null : await deps.words.parse(firmUuid, filter.q);
  if (filter.q !== undefined && words === null) return [];
  const position = after === null ? null : { uuid: after, startTime: new Date(0), score: 0 };
  const sort = { by: 'created_at', isDescending: true } as const;
  const positions = await deps.listing.positions({ firmUuid, filter, words, sort, after: position, offset: 0, limit });
  return positions.map(({ uuid }) => uuid);
}
