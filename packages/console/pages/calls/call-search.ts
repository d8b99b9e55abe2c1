import type { paths } from '@call-analysis/client/api-types';

/** The parameters of Get Calls. */
export type CallQuery = NonNullable<paths['/api/v1/calls']['get']['parameters']['query']>;
export type Sort = NonNullable<CallQuery['sort']>;

/** How a filter of the calls page is asked for. */
type FilterOf<List, Single> =
  /** Any of several values may match. */
  | { readonly kind: 'any-of'; readonly field: List; readonly options: readonly string[] }
  /** `by`: the values are uuids, of what statistics name or of people. */
  | {
      readonly kind: 'one-of';
      readonly field: Single;
      readonly options: readonly string[];
      readonly by?: 'question' | 'scorecard' | 'person';
    }
  | { readonly kind: 'text'; readonly field: Single }
  | { readonly kind: 'numbers'; readonly from: Single; readonly to: Single; readonly most?: number }
  | { readonly kind: 'days'; readonly from: Single; readonly to: Single };

const YES_NO = ['true', 'false'];

/** Every filter of the calls page, in the order in which they are offered. The names are keys of the texts. */
export const FILTERS = {
  status: {
    kind: 'any-of',
    field: 'status',
    options: ['queued', 'transcribing', 'analyzing', 'completed', 'failed', 'canceled'],
  },
  started: { kind: 'days', from: 'started_from', to: 'started_to' },
  // The firm's own types are those of the calls.
  segment_type: { kind: 'any-of', field: 'segment_type', options: [] },
  score: { kind: 'numbers', from: 'score_min', to: 'score_max', most: 100 },
  needs_review: { kind: 'one-of', field: 'needs_review', options: YES_NO },
  reviewed: { kind: 'one-of', field: 'reviewed', options: YES_NO },
  review_status: {
    kind: 'any-of',
    field: 'review_status',
    options: ['none', 'open', 'done', 'acknowledged', 'disputed'],
  },
  assigned_to: { kind: 'one-of', field: 'assigned_to', options: [], by: 'person' },
  reviewed_by: { kind: 'one-of', field: 'reviewed_by', options: [], by: 'person' },
  operator_name: { kind: 'text', field: 'operator_name' },
  operator_group_name: { kind: 'text', field: 'operator_group_name' },
  operator_id: { kind: 'text', field: 'operator_id' },
  client_phone_number: { kind: 'text', field: 'client_phone_number' },
  language: { kind: 'one-of', field: 'language', options: ['en', 'ru', 'uz', 'ky', 'es'] },
  // Those of the calls.
  topic: { kind: 'one-of', field: 'topic', options: [] },
  resolution: { kind: 'one-of', field: 'resolution', options: ['resolved', 'follow_up', 'unresolved'] },
  auto_failed: { kind: 'one-of', field: 'auto_failed', options: YES_NO },
  auto_fail_suspected: { kind: 'one-of', field: 'auto_fail_suspected', options: YES_NO },
  lost_points: { kind: 'one-of', field: 'lost_points', options: [], by: 'question' },
  scorecard: { kind: 'one-of', field: 'scorecard', options: [], by: 'scorecard' },
  scorecard_revision: { kind: 'text', field: 'scorecard_revision' },
  direction: { kind: 'any-of', field: 'direction', options: ['inbound', 'outbound'] },
  duration: { kind: 'numbers', from: 'duration_min', to: 'duration_max' },
  source: { kind: 'one-of', field: 'source', options: ['audio', 'transcription'] },
  outcome: { kind: 'any-of', field: 'outcome', options: ['scored', 'no_speech'] },
  partner_call_id: { kind: 'text', field: 'partner_call_id' },
  batch: { kind: 'text', field: 'batch' },
  campaign: { kind: 'text', field: 'campaign' },
} as const satisfies Record<string, FilterOf<keyof CallQuery, keyof CallQuery>>;

export type FilterKey = keyof typeof FILTERS;
type Known = (typeof FILTERS)[FilterKey];
type ListFilter = Extract<Known, { kind: 'any-of' }>['field'];
type SingleFilter =
  | 'q'
  | Extract<Known, { kind: 'one-of' | 'text' }>['field']
  | Extract<Known, { kind: 'numbers' | 'days' }>['from' | 'to'];
export type Filter = FilterOf<ListFilter, SingleFilter>;

/** The parameters of a filter. */
export function fieldsOf(filter: Filter): readonly (ListFilter | SingleFilter)[] {
  return 'field' in filter ? [filter.field] : [filter.from, filter.to];
}

export const SORTS = [
  '-start_time',
  'start_time',
  '-created_at',
  'created_at',
  '-score',
  'score',
] as const satisfies readonly Sort[];
/** The newest call first. */
export const DEFAULT_SORT: Sort = '-start_time';

/** The filters and the order of the calls page, as in its URL. Absent filters do not apply. */
export type CallSearch = { readonly [Name in ListFilter]?: string[] } & {
  readonly [Name in SingleFilter]?: string;
} & { readonly sort?: Sort };

/** Reads a URL. Unknown parameters are ignored, so that an old link still opens. */
export function callSearch(raw: Record<string, unknown>): CallSearch {
  const search: Record<string, unknown> = {};
  const filters: readonly Filter[] = [{ kind: 'text', field: 'q' }, ...Object.values(FILTERS)];
  for (const filter of filters)
    for (const name of fieldsOf(filter)) {
      const values = [raw[name] ?? []].flat().map(String).filter(Boolean);
      if (values.length > 0) search[name] = filter.kind === 'any-of' ? values : values[0];
    }
  const sort = SORTS.find((each) => each === raw['sort']);
  if (sort !== undefined && sort !== DEFAULT_SORT) search['sort'] = sort;
  return search as CallSearch;
}

/** Whether anything is filtered. */
export function isFiltered(search: CallSearch): boolean {
  return Object.keys(search).some((name) => name !== 'sort');
}

/** The same as parameters of the API. The API refuses values that it does not know, and says so. */
export function callQuery(search: CallSearch): CallQuery {
  return search as unknown as CallQuery;
}

const PAGE_SIZE = 100;

/** The first page of the list. */
export function firstPage(search: CallSearch): CallQuery {
  return { sort: DEFAULT_SORT, ...callQuery(search), size: PAGE_SIZE };
}
