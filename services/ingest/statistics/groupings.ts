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

/**
 * The properties of which the sums of frequent values are stored, with what their filters compare: names that mean the same are one
 * value.
 */
export const VALUES = {
  operator_name: (name: string) => `fold_name(${name})`,
  operator_group_name: (name: string) => `fold_name(${name})`,
  segment_type: (name: string) => name,
  language: (name: string) => name,
} as const satisfies Partial<Record<PropertyGrouping, (name: string) => string>>;
export type ValueProperty = keyof typeof VALUES;

/** The calls with a value of a property. */
export interface Value {
  readonly property: ValueProperty;
  /** As its filter compares it. */
  readonly value: string;
}

export type Grouping = TimeGrouping | PropertyGrouping;

export const PROPERTY_GROUPINGS = Object.keys(PROPERTIES) as PropertyGrouping[];
export const VALUE_PROPERTIES = Object.keys(VALUES) as ValueProperty[];
export const GROUPINGS: readonly Grouping[] = [...(Object.keys(TIMES) as TimeGrouping[]), ...PROPERTY_GROUPINGS];

export function isTime(grouping: Grouping): grouping is TimeGrouping {
  return grouping in TIMES;
}

/** A call counts under each of its topics and questions, so the sum of their groups is not that of the calls. */
export function overlaps(grouping: Grouping): boolean {
  return grouping === 'topic' || grouping === 'question';
}
