import { useQueries, useQuery } from '@tanstack/react-query';
import { type Schemas, get } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { shellTexts, topicName } from '../../../i18n/texts.ts';
import { usePeople } from '../../../widgets/people.ts';
import { callsTexts } from '../../texts.ts';
import { callQuery, type CallSearch, type Filter, type FilterKey, FILTERS } from '../call-search.ts';
import { CALLS_KEY } from '../use-calls.ts';

/** Filters that are always shown; users can add the others. */
export const ALWAYS: readonly FilterKey[] = ['status', 'started', 'segment_type', 'score', 'needs_review'];

/** The name of a filter: that of its column, unless it has one of its own. */
export function filterName(key: FilterKey): string {
  return callsTexts.inWords('filter.', key, callsTexts.inWords('column.', key));
}

export function optionName(key: FilterKey, value: string): string {
  if (key === 'topic') return topicName(value);
  if (key === 'status' || key === 'language') return shellTexts.inWords(`${key}.`, value);
  return callsTexts.inWords(`option.${key}.`, value, callsTexts.inWords('option.', value));
}

/** The value of a filter, in words. Null when it is not set. */
export function useFilterValue(key: FilterKey, search: CallSearch): string | null {
  const t = callsTexts.use();
  const filter: Filter = FILTERS[key];
  const names = useNames(filter.kind === 'one-of' && search[filter.field] !== undefined ? filter.by : undefined);
  switch (filter.kind) {
    case 'any-of': {
      const values = search[filter.field] ?? [];
      return values.length === 0 ? null : values.map((value) => optionName(key, value)).join(', ');
    }
    case 'one-of':
    case 'text': {
      const value = search[filter.field];
      return value === undefined ? null : (names.get(value) ?? optionName(key, value));
    }
    case 'numbers':
      return range(search[filter.from], search[filter.to]);
    case 'days':
      return range(day(search[filter.from]), day(search[filter.to], 1));
  }

  function range(from: string | undefined, to: string | undefined): string | null {
    if (from === undefined) return to === undefined ? null : t('upTo', { to });
    return to === undefined ? t('from', { from }) : from === to ? from : `${from} – ${to}`;
  }
}

/** The end of a period is the first moment that no longer belongs to it. */
function day(instant: string | undefined, before = 0): string | undefined {
  if (instant === undefined || Number.isNaN(Date.parse(instant))) return instant;
  return format.date(new Date(Date.parse(instant) - before));
}

/** Fields that statistics group by, so that one request counts all their values. */
const GROUPED = [
  'status',
  'segment_type',
  'language',
  'resolution',
  'topic',
] as const satisfies readonly Schemas['Grouping'][];
const FRESH_MS = 15_000;

/** The number of calls that each value would show together with the other filters. Counted when the chip is opened. */
export function useCounts(search: CallSearch, field: keyof CallSearch, options: readonly string[]): readonly string[] {
  const isGrouped = GROUPED.some((each) => each === field);
  const grouped = useGroups(search, field, true);
  const results = useQueries({
    queries: (isGrouped ? [] : options).map((option) => {
      const query = { ...callQuery({ ...search, [field]: option }), size: 1 };
      return { ...get([...CALLS_KEY, 'count', query], '/api/v1/calls', { query }), staleTime: FRESH_MS };
    }),
  });
  if (isGrouped) {
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
 * The texts of the questions that were answered in any call, those that lose the most points first, or the names of scorecards or
 * people, by their uuids. The person who asks is `me`, too.
 */
export function useNames(by: 'question' | 'scorecard' | 'person' | undefined): ReadonlyMap<string, string> {
  const shell = shellTexts.use();
  const people = usePeople(by === 'person');
  const grouping = by === 'person' ? undefined : by;
  const sort = by === 'question' ? ({ sort: 'points_ratio' } as const) : {};
  const { data } = useQuery({
    ...get([...CALLS_KEY, 'names', by], '/api/v1/statistics', { query: { group_by: grouping!, ...sort, limit: 1000 } }),
    enabled: grouping !== undefined,
    staleTime: FRESH_MS,
  });
  if (by === 'person') return new Map([['me', shell('you')], ...people.map(({ uuid, name }) => [uuid, name] as const)]);
  return new Map((data?.items ?? []).flatMap(({ key, label }) => (key === null ? [] : [[key, label ?? key] as const])));
}

function useGroups(search: CallSearch, field: keyof CallSearch, isWanted: boolean) {
  const group_by = GROUPED.find((each) => each === field);
  const { sort: _sort, [field]: _own, ...others } = search;
  const query = { ...(callQuery(others) as object), group_by: group_by!, limit: 1000 };
  const { data } = useQuery({
    ...get([...CALLS_KEY, 'groups', query], '/api/v1/statistics', { query }),
    enabled: isWanted && group_by !== undefined,
    staleTime: FRESH_MS,
  });
  return data?.items ?? null;
}
