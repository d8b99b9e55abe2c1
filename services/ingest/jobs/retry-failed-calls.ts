import { unavailable } from '@call-analysis/fault';
import type { Parts } from '../calls/retry-call.ts';
import { retryIf } from '../calls/retry-failed.ts';
import { NO_FILTER } from '../store/index.ts';
import { matchingCalls } from './matching-calls.ts';

/** Failed calls that one request looks at. */
const PAGE = 200;

/**
 * Starts a new attempt of a firm's calls that failed with this code, also where that is permanent: one page of them, those
 * before `after` only. `next` is null after the last page. May be repeated at any point.
 */
export async function retryFailedCalls(
  parts: Parts,
  firmUuid: string,
  code: string,
  after: string | null,
  page = PAGE,
): Promise<{ retried: number; next: string | null }> {
  const { store } = parts;
  const failed = await matchingCalls(store, firmUuid, { ...NO_FILTER, status: ['failed'] }, after, page);
  if (failed === null) throw unavailable('The index of calls');
  let retried = 0;
  for (const uuid of await store.calls.failedWith(firmUuid, failed, code)) {
    const isRetried = await retryIf(
      parts,
      firmUuid,
      uuid,
      ({ status, failure }) => status === 'failed' && failure?.code === code,
    );
    if (isRetried) retried += 1;
  }
  return { retried, next: failed.length < page ? null : failed.at(-1)! };
}
