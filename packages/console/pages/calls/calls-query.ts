import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, send } from '../../api/client.ts';
import { type CallSearch, firstPage } from './call-search.ts';

/** Key of everything about lists of calls, to fetch them again after a change. */
export const CALLS_KEY = ['calls'] as const;

/** The pages of a list of calls, by cursor. */
export function callsQuery(search: CallSearch) {
  return infiniteQueryOptions({
    queryKey: [...CALLS_KEY, 'pages', search],
    queryFn: ({ pageParam, signal }) => fetchCalls(search, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: Infinity,
  });
}

export function fetchCalls(search: CallSearch, cursor: string | null, signal: AbortSignal) {
  const query = { ...firstPage(search), ...(cursor !== null && { cursor }) };
  return send(api.GET('/api/v1/calls', { params: { query }, signal }));
}
