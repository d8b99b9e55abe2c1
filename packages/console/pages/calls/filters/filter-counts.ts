import { useQueries, useQuery } from '@tanstack/react-query';
import { api, type Schemas, send, get } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { callQuery, type CallSearch } from '../call-search.ts';
import { CALLS_KEY } from '../use-calls.ts';

type Grouping = Schemas['Grouping'];

/** Fields that statistics group by, so that one request counts all their values. */
const GROUPED = ['status', 'segment_type', 'language', 'resolution', 'topic'] as const satisfies readonly Grouping[];
const FRESH_MS = 15_000;

/** The number of calls that each value would show together with the other filters. Counted when the chip is opened. */
export function useCounts(search: CallSearch, field: keyof CallSearch, options: readonly string[]): readonly string[] {
  const grouped = useGroups(search, field, true);
  const results = useQueries({
    queries: (groupingOf(field) === null ? options : []).map((option) => {
      const query = { ...callQuery({ ...search, [field]: option }), size: 1 };
      return { ...get([...CALLS_KEY, 'count', query], '/api/v1/calls', { query }), staleTime: FRESH_MS };
    }),
  });
  if (groupingOf(field) !== null) {
    return options.map((option) =>
      grouped === null ? '' : format.number(grouped.find(({ key }) => key === option)?.calls ?? 0),
    );
  }
  return results.map(({ data }) =>
    data === undefined ? '' : `${data.count_is_estimate ? '≈ ' : ''}${format.number(data.count)}`,
  );
}

/** The values of the calls that match the other filters. */
export function useValues(search: CallSearch, field: keyof CallSearch, isWanted: boolean): readonly string[] {
  return (useGroups(search, field, isWanted) ?? []).flatMap(({ key }) => (key === null ? [] : [key]));
}

/**
 * The texts of the questions that were answered in any call, those that lose the most points first, or the names of scorecards, by
 * their uuids.
 */
export function useNames(by: 'question' | 'scorecard', isWanted: boolean): ReadonlyMap<string, string> {
  const query = { group_by: by, ...(by === 'question' && { sort: 'points_ratio' as const }), limit: 1000 } as const;
  const { data } = useQuery({
    ...get([...CALLS_KEY, 'names', by], '/api/v1/statistics', { query }),
    enabled: isWanted,
    staleTime: FRESH_MS,
  });
  return new Map((data?.items ?? []).flatMap(({ key, label }) => (key === null ? [] : [[key, label ?? key] as const])));
}

function useGroups(search: CallSearch, field: keyof CallSearch, isWanted: boolean) {
  const group_by = groupingOf(field);
  const { sort: _sort, [field]: _own, ...others } = search;
  const { data } = useQuery({
    queryKey: [...CALLS_KEY, 'groups', group_by, others],
    queryFn: ({ signal }) => {
      const query = { ...(callQuery(others) as object), group_by: group_by ?? 'status', limit: 1000 };
      return send(api.GET('/api/v1/statistics', { params: { query }, signal }));
    },
    enabled: isWanted && group_by !== null,
    staleTime: FRESH_MS,
  });
  return data?.items ?? null;
}

function groupingOf(field: keyof CallSearch): Grouping | null {
  return GROUPED.find((each) => each === field) ?? null;
}
