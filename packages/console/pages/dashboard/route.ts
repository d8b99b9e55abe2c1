import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { whenOnline } from '../../api/connection.ts';
import { rootRoute } from '../../app/root-route.ts';
import { currentLocale } from '../../i18n/texts.ts';
import { topicTexts } from '../../i18n/topics/texts.ts';
import { dashboardTexts } from './texts.ts';

/** `days`: the length of the period, which ends today. `tz`: an IANA time zone. `scorecard`: whose agreement is shown. */
interface DashboardSearch {
  readonly days?: string;
  readonly tz?: string;
  readonly measure?: string;
  readonly scorecard?: string;
}

export const dashboardRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/dashboard',
  validateSearch: (raw: Record<string, unknown>): DashboardSearch =>
    Object.fromEntries(
      ['days', 'tz', 'measure', 'scorecard'].flatMap((name) =>
        typeof raw[name] === 'string' ? [[name, raw[name]]] : [],
      ),
    ),
  loader: () => Promise.all([dashboardTexts.load(currentLocale()), topicTexts.load(currentLocale())]),
  component: lazyRouteComponent(() => whenOnline(() => import('./dashboard-page.tsx')), 'DashboardPage'),
});
