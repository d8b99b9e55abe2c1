import { type CallFilter, matchesFilter, needsIndex, type Store } from '../store/index.ts';
import type { Selection } from './job-store.ts';

/** How long the index may take to contain all calls of the firm. */
const CATCH_UP_MS = 20_000;

/**
 * The next calls that match, from the newest on, those before `after` only. None is missing: null when the index does not
 * contain all calls of the firm in time.
 */
export async function matchingCalls(
  store: Store,
  firmUuid: string,
  filter: CallFilter | Selection,
  after: string | null,
  limit: number,
): Promise<string[] | null> {
  if ('callUuids' in filter) return store.listing.known(firmUuid, filter.callUuids, { after, limit });
  const position = after === null ? null : { uuid: after, startTime: new Date(0), score: 0 };
  const query = { firmUuid, filter, sort: { by: 'created_at', isDescending: true } as const, after: position };
  if (filter.partnerCallId !== null) {
    const row = await store.listing.findByPartnerCallId(firmUuid, filter.partnerCallId);
    const isNext = row !== null && (after === null || row.uuid < after) && matchesFilter(filter, row);
    return isNext ? [row.uuid] : [];
  }
  const words = filter.q === null ? null : await store.search.parseWords(filter.q);
  if (filter.q !== null && words === null) return [];
  if (!(await store.search.catchUp(firmUuid, { words: words !== null, withinMs: CATCH_UP_MS }))) return null;
  if (needsIndex(filter) && (await store.search.hasBackfill(firmUuid))) return null;
  const { positions } = await store.search.find({ ...query, offset: 0, limit }, words);
  return positions.map(({ uuid }) => uuid);
}
