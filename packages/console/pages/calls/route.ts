import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { whenOnline } from '../../api/connection.ts';
import { rootRoute } from '../../app/root-route.ts';
import { currentLocale } from '../../i18n/texts.ts';
import { topicTexts } from '../../i18n/topics/texts.ts';
import { callSearch } from './call-search.ts';
import { callsTexts } from './texts.ts';

export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/calls', replace: true });
  },
});

export const callsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/calls',
  validateSearch: callSearch,
  loader: () => Promise.all([callsTexts.load(currentLocale()), topicTexts.load(currentLocale())]),
  component: lazyRouteComponent(() => whenOnline(() => import('./calls-page.tsx')), 'CallsPage'),
});
