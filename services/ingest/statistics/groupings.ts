/** Groupings by the start of the call, each with the format of its keys for PostgreSQL's `to_char`. */
export const TIMES = { hour: 'HH24', day: 'YYYY-MM-DD', week: 'IYYY-"W"IW', month: 'YYYY-MM' } as const;
export type TimeGrouping = keyof typeof TIMES;

/** Groupings by a property of the call `c`: its expression, null where the call has none. */
export const PROPERTIES = {
  operator_name: 'c.operator_name',
  operator_group_name: 'c.operator_group_name',
  segment_type: 'c.segment_type',
  language: 'c.language',
  status: 'c.status',
  topic: 'topic',
  resolution: 'c.resolution',
  scorecard: 'c.scorecard_uuid',
  question: 'question',
} as const;
export type PropertyGrouping = keyof typeof PROPERTIES;

export type Grouping = TimeGrouping | PropertyGrouping;

export const PROPERTY_GROUPINGS = Object.keys(PROPERTIES) as PropertyGrouping[];
export const GROUPINGS: readonly Grouping[] = [...(Object.keys(TIMES) as TimeGrouping[]), ...PROPERTY_GROUPINGS];

export function isTime(grouping: Grouping): grouping is TimeGrouping {
  return grouping in TIMES;
}

/** A call counts under each of its topics and questions, so the sum of their groups is not that of the calls. */
export function overlaps(grouping: Grouping): boolean {
  return grouping === 'topic' || grouping === 'question';
}
