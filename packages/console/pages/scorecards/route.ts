import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { whenOnline } from '../../api/connection.ts';
import { rootRoute } from '../../app/root-route.ts';
import { currentLocale } from '../../i18n/texts.ts';
import { scorecardsTexts } from './texts.ts';

/** `uuid`: the scorecard that is shown. `compare`: the earlier revision that it is compared with. */
interface ScorecardsSearch {
  readonly uuid?: string;
  readonly compare?: string;
}

export const scorecardsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/scorecards',
  validateSearch: (raw: Record<string, unknown>): ScorecardsSearch =>
    Object.fromEntries(
      ['uuid', 'compare'].flatMap((name) => (typeof raw[name] === 'string' ? [[name, raw[name]]] : [])),
    ),
  loader: () => scorecardsTexts.load(currentLocale()),
  component: lazyRouteComponent(() => whenOnline(() => import('./scorecards-page.tsx')), 'ScorecardsPage'),
});
