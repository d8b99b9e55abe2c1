import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { whenOnline } from '../../api/connection.ts';
import { rootRoute } from '../../app/root-route.ts';
import { currentLocale } from '../../i18n/texts.ts';
import { callTexts } from '../call/texts.ts';
import { reviewTexts } from './texts.ts';

export const reviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/review',
  // The transcript and the answers are those of the page of a call.
  loader: () => Promise.all([reviewTexts.load(currentLocale()), callTexts.load(currentLocale())]),
  component: lazyRouteComponent(() => whenOnline(() => import('./review-page.tsx')), 'ReviewPage'),
});
