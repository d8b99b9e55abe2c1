import { DAY_MS, isDay } from '../../i18n/zone/days.ts';
import type { CallSearch } from '../calls/call-search.ts';
import { type Period, periods } from '../dashboard/period.ts';

/** Which calls figures are about, as in a URL. Days are of the kind "2026-10-03"; both count. */
export const SCOPE = ['operator', 'group', 'segment', 'card', 'revision', 'from', 'to'] as const;

/** `card`: the uuid of a scorecard. `revision`: a number of one of its revisions. */
export type Scope = { readonly [Field in (typeof SCOPE)[number]]?: string };

/** The same as filters of statistics and of the calls page. */
export type ScopeFilter = Pick<
  CallSearch,
  'operator_name' | 'operator_group_name' | 'segment_type' | 'scorecard' | 'scorecard_revision'
>;

export function filterOf({ operator, group, segment, card, revision }: Scope): ScopeFilter {
  return {
    ...(operator !== undefined && { operator_name: operator }),
    ...(group !== undefined && { operator_group_name: group }),
    ...(segment !== undefined && { segment_type: [segment] }),
    ...(card !== undefined && { scorecard: card }),
    // Each scorecard has a revision of the number.
    ...(card !== undefined && revision !== undefined && { scorecard_revision: revision }),
  };
}

/** The days that a person has chosen, and as many before them. Null where none, or not in their order, are chosen. */
export function chosenDays({ from, to }: Scope, zone: string): { now: Period; before: Period } | null {
  if (from === undefined || to === undefined || !isDay(from) || !isDay(to) || from > to) return null;
  return periods((Date.parse(to) - Date.parse(from)) / DAY_MS + 1, zone, to);
}
