import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { callQuery, type CallSearch } from './call-search.ts';

export type Call = Schemas['ListedCall'];

const PAGE_SIZE = 100;
const POLL_MS = 4_000;

/** Key of everything about lists of calls, to fetch them again after a change. */
export const CALLS_KEY = ['calls'] as const;

/**
 * The calls of a search: pages by cursor as they are asked for, and the newest page again every few seconds while the tab
 * is visible, so that calls appear and change as they are processed.
 */
export function useCalls(search: CallSearch) {
  const list = useInfiniteQuery({
    queryKey: [...CALLS_KEY, 'pages', search],
    queryFn: ({ pageParam, signal }) => fetchPage(search, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  const head = useQuery({
    queryKey: [...CALLS_KEY, 'head', search],
    queryFn: ({ signal }) => fetchPage(search, null, signal),
    enabled: list.isSuccess && !list.isPlaceholderData,
    refetchInterval: POLL_MS,
    staleTime: POLL_MS,
  });
  const pages = list.data?.pages;
  const fresh = list.isPlaceholderData ? undefined : head.data;
  const items = useMemo(() => merged(fresh?.items ?? [], pages?.flatMap(({ items }) => items) ?? []), [fresh, pages]);
  const first = fresh ?? pages?.[0];
  return {
    items,
    count: first?.count ?? 0,
    isEstimate: first?.count_is_estimate ?? false,
    isPending: list.isPending,
    isChanging: list.isPlaceholderData,
    error: list.error,
    /** The list is shown, but has not been brought up to date. */
    isStale: head.isError,
    hasMore: list.hasNextPage,
    loadMore: () => {
      if (list.hasNextPage && !list.isFetching) void list.fetchNextPage();
    },
    retry: () => void list.refetch(),
  };
}

function fetchPage(search: CallSearch, cursor: string | null, signal: AbortSignal) {
  const query = { ...callQuery(search), size: PAGE_SIZE, ...(cursor !== null && { cursor }) };
  return send(api.GET('/api/v1/calls', { params: { query }, signal }));
}

/** Each call once: as the newest page shows it, else as it was read first. */
function merged(fresh: readonly Call[], read: readonly Call[]): readonly Call[] {
  const seen = new Set(fresh.map(({ uuid }) => uuid));
  return [...fresh, ...read.filter(({ uuid }) => !seen.has(uuid) && seen.add(uuid))];
}
