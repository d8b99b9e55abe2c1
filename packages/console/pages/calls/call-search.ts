import type { paths } from '@call-analysis/client/api-types';

/** The parameters of Get Calls. */
export type CallQuery = NonNullable<paths['/api/v1/calls']['get']['parameters']['query']>;
export type Sort = NonNullable<CallQuery['sort']>;

/** Filters of which any of several values may match. */
export const LISTS = ['status', 'outcome', 'segment_type', 'direction'] as const satisfies readonly (keyof CallQuery)[];
/** Filters of one value. */
export const SINGLES = [
  'q',
  'source',
  'operator_name',
  'operator_group_name',
  'operator_id',
  'client_phone_number',
  'partner_call_id',
  'batch',
  'campaign',
  'started_from',
  'started_to',
  'score_min',
  'score_max',
  'duration_min',
  'duration_max',
  'needs_review',
  'reviewed',
  'language',
  'topic',
  'resolution',
  'auto_failed',
  'lost_points',
  'scorecard',
  'scorecard_revision',
] as const satisfies readonly (keyof CallQuery)[];
export type ListFilter = (typeof LISTS)[number];
export type SingleFilter = (typeof SINGLES)[number];

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
  for (const name of LISTS) {
    const values = [raw[name] ?? []].flat().map(String).filter(Boolean);
    if (values.length > 0) search[name] = values;
  }
  for (const name of SINGLES) {
    const value = [raw[name]].flat()[0];
    if (typeof value === 'string' && value !== '') search[name] = value;
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
