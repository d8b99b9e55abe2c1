import * as format from '../../../i18n/format.ts';
import { shellTexts } from '../../../i18n/texts.ts';
import { topicName } from '../../../i18n/texts.ts';
import { callsTexts } from '../../texts.ts';
import type { CallSearch } from '../call-search.ts';
import { useNames } from './filter-counts.ts';
import { type Filter, type FilterKey, filterOf } from './filters.ts';

/** One value of a filter in words. */
export function optionName(key: FilterKey, value: string): string {
  if (key === 'topic') return topicName(value);
  const shared = key === 'status' || key === 'language' ? `${key}.${value}` : '';
  if (shellTexts.has(shared)) return shellTexts.translate(shared);
  const own = `option.${key}.${value}`;
  if (callsTexts.has(own)) return callsTexts.translate(own);
  if (value === 'true' || value === 'false') return callsTexts.translate(`option.${value}`);
  return value;
}

/** The value of a filter, in words. Null when it is not set. */
export function useFilterValue(key: FilterKey, search: CallSearch): string | null {
  const t = callsTexts.use();
  const filter: Filter = filterOf(key);
  const isNamed = filter.kind === 'named';
  const names = useNames(isNamed ? filter.by : 'question', isNamed && search[filter.field] !== undefined);
  switch (filter.kind) {
    case 'any-of': {
      const values = search[filter.field] ?? [];
      return values.length === 0 ? null : values.map((value) => optionName(key, value)).join(', ');
    }
    case 'one-of':
    case 'text': {
      const value = search[filter.field];
      return value === undefined ? null : optionName(key, value);
    }
    case 'named': {
      const value = search[filter.field];
      return value === undefined ? null : (names.get(value) ?? value);
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
