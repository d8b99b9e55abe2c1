import * as format from '../../../i18n/format.ts';
import { shellTexts, topicName } from '../../../i18n/texts.ts';
import { callsTexts } from '../../texts.ts';
import type { ListFilter, SingleFilter, CallSearch } from '../call-search.ts';
import { useNames } from './filter-counts.ts';

/** How a filter is asked for. */
export type Filter =
  | { readonly kind: 'any-of'; readonly field: ListFilter; readonly options: readonly string[] }
  | { readonly kind: 'one-of'; readonly field: SingleFilter; readonly options: readonly string[] }
  | { readonly kind: 'text'; readonly field: SingleFilter }
  /** A uuid, which statistics name. */
  | { readonly kind: 'named'; readonly field: SingleFilter; readonly by: 'question' | 'scorecard' }
  | { readonly kind: 'numbers'; readonly from: SingleFilter; readonly to: SingleFilter; readonly most?: number }
  | { readonly kind: 'days'; readonly from: SingleFilter; readonly to: SingleFilter };

const YES_NO = ['true', 'false'];

/** Every filter of the calls page, in the order in which they are offered. The names are keys of the texts. */
export const FILTERS = {
  status: {
    kind: 'any-of',
    field: 'status',
    options: ['queued', 'transcribing', 'analyzing', 'completed', 'failed', 'canceled'],
  },
  started: { kind: 'days', from: 'started_from', to: 'started_to' },
  // The firm's own types are those of the calls that are shown.
  segment_type: { kind: 'any-of', field: 'segment_type', options: [] },
  score: { kind: 'numbers', from: 'score_min', to: 'score_max', most: 100 },
  needs_review: { kind: 'one-of', field: 'needs_review', options: YES_NO },
  reviewed: { kind: 'one-of', field: 'reviewed', options: YES_NO },
  operator_name: { kind: 'text', field: 'operator_name' },
  operator_group_name: { kind: 'text', field: 'operator_group_name' },
  operator_id: { kind: 'text', field: 'operator_id' },
  client_phone_number: { kind: 'text', field: 'client_phone_number' },
  language: { kind: 'one-of', field: 'language', options: ['en', 'ru', 'uz', 'ky', 'es'] },
  // Those of the calls.
  topic: { kind: 'one-of', field: 'topic', options: [] },
  resolution: { kind: 'one-of', field: 'resolution', options: ['resolved', 'follow_up', 'unresolved'] },
  auto_failed: { kind: 'one-of', field: 'auto_failed', options: YES_NO },
  lost_points: { kind: 'named', field: 'lost_points', by: 'question' },
  scorecard: { kind: 'named', field: 'scorecard', by: 'scorecard' },
  scorecard_revision: { kind: 'text', field: 'scorecard_revision' },
  direction: { kind: 'any-of', field: 'direction', options: ['inbound', 'outbound'] },
  duration: { kind: 'numbers', from: 'duration_min', to: 'duration_max' },
  source: { kind: 'one-of', field: 'source', options: ['audio', 'transcription'] },
  outcome: { kind: 'any-of', field: 'outcome', options: ['scored', 'no_speech'] },
  partner_call_id: { kind: 'text', field: 'partner_call_id' },
  batch: { kind: 'text', field: 'batch' },
  campaign: { kind: 'text', field: 'campaign' },
} as const satisfies Record<string, Filter>;

export type FilterKey = keyof typeof FILTERS;

export const filterOf = (key: FilterKey): Filter => FILTERS[key];

/** Filters that are always shown; users can add the others. */
export const ALWAYS: readonly FilterKey[] = ['status', 'started', 'segment_type', 'score', 'needs_review'];

export function fieldsOf(filter: Filter): readonly (ListFilter | SingleFilter)[] {
  return 'field' in filter ? [filter.field] : [filter.from, filter.to];
}

/** The name of a filter: that of its column, unless it has one of its own. */
export function filterName(key: FilterKey): string {
  return callsTexts.inWords('filter.', key, callsTexts.inWords('column.', key));
}

/** One value of a filter in words. */
export function optionName(key: FilterKey, value: string): string {
  if (key === 'topic') return topicName(value);
  if (key === 'status' || key === 'language') return shellTexts.inWords(`${key}.`, value);
  return callsTexts.inWords(`option.${key}.`, value, callsTexts.inWords('option.', value));
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
