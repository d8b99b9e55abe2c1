import type { paths } from '@call-analysis/client/api-types';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type Schemas, get } from '../../api/client.ts';

export type Statistics = Schemas['Statistics'];
export type Group = Schemas['StatisticGroup'];
type Asked = paths['/api/v1/statistics']['get']['parameters']['query'];
/** In a URL, numbers are text. */
type Query = Omit<Asked, 'scorecard_revision'> & { readonly scorecard_revision?: string };

const POLL_MS = 30_000;

export type Named = Group & { readonly key: string };

/** The groups that have a name. */
export function named(statistics: Statistics | undefined): readonly Named[] {
  return (statistics?.items ?? []).filter((item): item is Named => item.key !== null);
}

/** From 0 to 1; null of nothing. */
export function share(part: number, all: number): number | null {
  return all === 0 ? null : part / all;
}

/** Numbers of calls by group. Fetched again while the page is open and seen. */
export function useStatistics(query: Query, isWanted = true) {
  return useQuery({
    ...get(['statistics', query], '/api/v1/statistics', { query: query as unknown as Asked }),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
    enabled: isWanted,
  });
}
