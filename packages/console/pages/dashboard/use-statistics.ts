import type { paths } from '@call-analysis/client/api-types';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, type Schemas, send } from '../../api/client.ts';

export type Statistics = Schemas['Statistics'];
export type Group = Schemas['StatisticGroup'];
type Query = paths['/api/v1/statistics']['get']['parameters']['query'];

const POLL_MS = 30_000;

/** Numbers of calls by group. Fetched again while the page is open and seen. */
export function useStatistics(query: Query) {
  return useQuery({
    queryKey: ['statistics', query],
    queryFn: ({ signal }) => send(api.GET('/api/v1/statistics', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  });
}
