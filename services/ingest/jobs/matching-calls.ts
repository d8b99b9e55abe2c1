import type { CallFilter } from '../listing/call-filter.ts';
import type { ListDeps } from '../listing/list-calls.ts';
import type { Selection } from './job-store.ts';

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
