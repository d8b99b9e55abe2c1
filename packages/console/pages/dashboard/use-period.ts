import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { isZone } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { chosenDays, filterOf } from '../comparison/scope.ts';
import { LENGTHS, periods } from './period.ts';

const route = getRouteApi('/dashboard');

const DEFAULT_DAYS = 30;

/**
 * What the address chooses. Days begin in the time zone of all times, which is the firm's until another is chosen, so that all
 * users see the same numbers.
 */
export function usePeriod() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const days = LENGTHS.find((each) => String(each) === search.days) ?? DEFAULT_DAYS;
  const tz = search.tz !== undefined && isZone(search.tz) ? search.tz : timeZone();
  const { now, before } = chosenDays(search, tz) ?? periods(days, tz);
  const filter = filterOf(search);
  return {
    search,
    days,
    tz,
    /** The calls of the period, and of the one before it. Every figure and every link to its calls is about them. */
    now: { ...now, ...filter },
    before: { ...before, ...filter },
    isFiltered: Object.keys(filter).length > 0,
    choose: (changed: Partial<typeof search>, { replace = true } = {}) =>
      void navigate({ to: '/dashboard', search: { ...search, ...changed }, replace }),
  };
}
