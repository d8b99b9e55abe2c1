import { CallFilter as Conditions } from '@call-analysis/api/call-query';
import type { ListCallsRequest } from '@call-analysis/proto/ingest/v1/ListCallsRequest';
import { type Person, requireCaller } from '@call-analysis/service';
import { z } from 'zod';

/** The filter of a list (docs/api.md, "Calls"), and to which calls the caller is limited. */
export type CallFilter = Conditions & {
  /** Calls with one of these operator ids, so none where there are none: what an OPERATOR sees. */
  readonly seen_operators?: readonly string[];
};

export const NO_FILTER: CallFilter = Conditions.parse({});

/** What is no filter is left out. */
const Filter = z.object(Conditions.shape);

/** The filter of a list of calls. A gateway of the last release sends it by its fields. */
export function filterOf(request: ListCallsRequest): CallFilter {
  const { caller, filter_json: json } = request;
  const filter = Filter.parse(json === undefined ? request : JSON.parse(json));
  return filterFor({ ...requireCaller(caller), seenOperators: caller?.sees_only?.operator_ids ?? null }, filter);
}

/** What the caller asks for, in which `me` is the caller, of the calls that the caller sees. */
export function filterFor(
  { userUuid, seenOperators }: Pick<Person, 'userUuid' | 'seenOperators'>,
  filter: Conditions,
): CallFilter {
  const named = (person: string | undefined) => (person === 'me' ? userUuid : person);
  return {
    ...filter,
    assigned_to: named(filter.assigned_to),
    reviewed_by: named(filter.reviewed_by),
    ...(seenOperators !== null && { seen_operators: seenOperators }),
  };
}

/** A filter as it is stored: by the names of the first release, without what matches every call. */
export function filterToStore(filter: CallFilter): Record<string, unknown> {
  const given = Object.entries(filter).filter(
    ([name, value]) =>
      value !== undefined && (name === 'seen_operators' || !(Array.isArray(value) && value.length === 0)),
  );
  return Object.fromEntries(given.map(([name, value]) => [camelCase(name), value]));
}

/** A filter that was stored. What is null there, or missing, matches every call. */
export function storedFilter(stored: object): CallFilter {
  const given = Object.entries(stored).filter(([, value]) => value !== null);
  return { ...NO_FILTER, ...Object.fromEntries(given.map(([name, value]) => [snakeCase(name), value])) };
}

const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Calls with the same time or score are ordered by uuid. Calls without a score come last in both directions. Uuids
 * begin with the creation time, so `created_at` is the order of uuids.
 */
export interface Sort {
  readonly by: 'created_at' | 'start_time' | 'score';
  readonly isDescending: boolean;
}

/** The position of a call in every sort order. */
export interface Position {
  readonly uuid: string;
  readonly startTime: Date;
  /** Tenths; -1 without a score. */
  readonly score: number;
}

export interface CallQuery {
  readonly firmUuid: string;
  readonly filter: CallFilter;
  readonly sort: Sort;
  /** Only calls after this position; null starts at the first. */
  readonly after: Position | null;
  readonly offset: number;
  readonly limit: number;
}

export interface Count {
  readonly count: number;
  readonly isEstimate: boolean;
}

/** Durations are compared in whole milliseconds. */
export function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

/** The lowest and the highest matching score in tenths; undefined when the filter matches any score, and none. */
export function scoreRange({ score_min: min, score_max: max }: CallFilter): { low: number; high: number } | undefined {
  if (min === undefined && max === undefined) return undefined;
  // Scores have one decimal. Rounding removes the error of binary fractions.
  const tenths = (score: number) => Math.round(score * 1e7) / 1e6;
  return { low: Math.ceil(tenths(min ?? 0)), high: Math.floor(tenths(max ?? 100)) };
}
