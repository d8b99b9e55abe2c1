/** Groupings by the start of the call, each with the format of its keys for PostgreSQL's `to_char`. */
export const TIMES = { hour: 'HH24', day: 'YYYY-MM-DD', week: 'IYYY-"W"IW', month: 'YYYY-MM' } as const;
export type TimeGrouping = keyof typeof TIMES;

/** Groupings by a facet of the entry `c`: the expression of its id, null where the call has none. */
export const FACETS = {
  operator_name: 'c.operator',
  operator_group_name: 'c.team',
  segment_type: 'c.segment',
  language: 'c.language',
  status: 'c.state',
  topic: 'topic.id',
  resolution: 'c.resolution',
  scorecard: 'c.scorecard',
  question: 'question',
} as const;
export type FacetGrouping = keyof typeof FACETS;

export type Grouping = TimeGrouping | FacetGrouping;

export const FACET_GROUPINGS = Object.keys(FACETS) as FacetGrouping[];
export const GROUPINGS: readonly Grouping[] = [...(Object.keys(TIMES) as TimeGrouping[]), ...FACET_GROUPINGS];

export function isTime(grouping: Grouping): grouping is TimeGrouping {
  return grouping in TIMES;
}

/** A call counts under each of its topics and questions, so the sum of their groups is not that of the calls. */
export function overlaps(grouping: Grouping): boolean {
  return grouping === 'topic' || grouping === 'question';
}
