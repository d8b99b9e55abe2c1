import { keepPreviousData, useInfiniteQuery, useQuery, infiniteQueryOptions } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { type Schemas, api, send } from '../../api/client.ts';
import { broughtUpToDate } from './brought-up-to-date.ts';
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

function fetchCalls(search: CallSearch, cursor: string | null, signal: AbortSignal) {
  const query = { ...firstPage(search), ...(cursor !== null && { cursor }) };
  return send(api.GET('/api/v1/calls', { params: { query }, signal }));
}

export type Call = Schemas['ListedCall'];

const POLL_MS = 4_000;

/**
 * The calls of a search: pages by cursor as they are asked for, and the newest page again every few seconds while the tab
 * is visible, so that calls appear and change as they are processed.
 */
export function useCalls(search: CallSearch) {
  const list = useInfiniteQuery({
    ...callsQuery(search),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  });
  const newest = list.isPlaceholderData ? undefined : list.data?.pages[0];
  const head = useQuery({
    queryKey: [...CALLS_KEY, 'head', search],
    queryFn: ({ signal }) => fetchCalls(search, null, signal),
    enabled: list.isSuccess && !list.isPlaceholderData,
    // The list's own first page, until it is older than a poll.
    ...(newest !== undefined && { initialData: newest, initialDataUpdatedAt: list.dataUpdatedAt }),
    refetchInterval: POLL_MS,
    staleTime: POLL_MS,
  });
  const pages = list.data?.pages;
  const fresh = list.isPlaceholderData ? undefined : head.data;
  const { items, isApart } = useMemo(() => broughtUpToDate(fresh, pages ?? []), [fresh, pages]);
  const { refetch } = list;
  useEffect(() => {
    // Once for each newest page: one that fails is tried again after the next.
    if (isApart) void refetch();
  }, [isApart, fresh, refetch]);
  const first = fresh ?? pages?.[0];
  const isWhole = fresh?.next_cursor === null;
  return {
    items,
    count: first?.count ?? 0,
    isEstimate: first?.count_is_estimate ?? false,
    isPending: list.isPending,
    isChanging: list.isPlaceholderData,
    error: list.error,
    /** The list is shown, but has not been brought up to date. */
    isStale: head.isError,
    /** What the loaded pages continue with. */
    cursor: isWhole ? null : (pages?.at(-1)?.next_cursor ?? null),
    loadMore: () => {
      if (!isWhole && list.hasNextPage && !list.isFetching) void list.fetchNextPage();
    },
    retry: () => void refetch(),
  };
}
