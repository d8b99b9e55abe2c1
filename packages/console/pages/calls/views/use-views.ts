import { useQuery } from '@tanstack/react-query';
import { allPages } from '../../../api/all-pages.ts';
import { api, type Schemas, send } from '../../../api/client.ts';
import { useMay } from '../../../session/rights.ts';
import { callSearch, type CallSearch } from '../call-search.ts';

export type View = Schemas['View'];

export const VIEWS = ['views'] as const;
const STALE_MS = 30_000;

export const viewsQuery = {
  queryKey: VIEWS,
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    allPages((query) => send(api.GET('/api/v1/views', { params: { query }, signal }))),
  staleTime: STALE_MS,
};

/** The person's own views, then those of others in the firm. */
export function useViews() {
  return useQuery({ ...viewsQuery, enabled: useMay('review') });
}

/** The view that opens first. The person's own ones come before those of others. */
export function startView(views: readonly View[]): View | undefined {
  return views.find(({ start_page }) => start_page);
}

/** The filters of a view, as in the URL of the calls page. What this console does not know is left out. */
export function searchOf({ query }: Pick<View, 'query'>): CallSearch {
  return callSearch(query);
}

export function isSameSearch(one: CallSearch, other: CallSearch): boolean {
  const text = (search: CallSearch) => JSON.stringify(Object.entries(callSearch(search)).toSorted());
  return text(one) === text(other);
}
