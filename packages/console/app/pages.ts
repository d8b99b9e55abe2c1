import { createRootRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { queryClient, whenOnline } from '../api/connection.ts';
import { currentLocale, topicTexts } from '../i18n/texts.ts';
import { callSearch } from '../pages/calls/call-search.ts';
import { CallsPage } from '../pages/calls/calls-page.tsx';
import { callsQuery } from '../pages/calls/use-calls.ts';
import { StartPage, ViewLink } from '../pages/calls/views/views.tsx';
import { SCOPE } from '../pages/comparison/scope.ts';
import {
  calibrationTexts,
  callTexts,
  callsTexts,
  comparisonTexts,
  dashboardTexts,
  inboxTexts,
  reviewTexts,
  scorecardsTexts,
  settingsTexts,
  uploadTexts,
} from '../pages/texts.ts';
import { currentSession } from '../session/session.ts';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute({ component: Shell });
const getParentRoute = () => rootRoute;

type Texts = Pick<typeof callsTexts, 'load'>;

const load = (...pages: Texts[]) => Promise.all(pages.map((page) => page.load(currentLocale())));

/** A page that is fetched when it is opened, with its texts. */
function page(component: () => Promise<{ default: () => ReactNode }>, ...texts: Texts[]) {
  return {
    getParentRoute,
    loader: () => load(...texts),
    component: lazyRouteComponent(() => whenOnline(component), 'default'),
  };
}

/** Reads these parameters of a URL. Those that are empty, or no text, are as if they were left out. */
function texts<Name extends string>(...names: readonly Name[]) {
  return (raw: Record<string, unknown>): { readonly [Each in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => (typeof raw[name] === 'string' && raw[name] !== '' ? [[name, raw[name]]] : [])),
    ) as { readonly [Each in Name]?: string };
}

/** Every page. A page is a folder with its component and its texts. The navigation is in app/shell.tsx. */
export const pageRoutes = [
  createRoute({
    getParentRoute,
    path: '/',
    component: StartPage,
  }),
  createRoute({
    getParentRoute,
    path: '/views/$uuid',
    component: ViewLink,
  }),
  createRoute({
    getParentRoute,
    path: '/calls',
    validateSearch: callSearch,
    loader: ({ cause, location }) => {
      // The answer is read while the frame is drawn, and not once the page is.
      if (cause === 'enter' && currentSession() !== null)
        void queryClient.prefetchInfiniteQuery(callsQuery(callSearch(location.search)));
      return load(callsTexts, topicTexts);
    },
    // With the console itself: people open it first.
    component: CallsPage,
  }),
  createRoute({
    path: '/calls/$uuid',
    // `q`: the words that the call was found by. `question`: the one to open first. `t`: the second to begin at.
    validateSearch: texts('q', 'question', 't'),
    ...page(() => import('../pages/call/call-view.tsx'), callTexts, topicTexts),
  }),
  createRoute({
    path: '/inbox',
    ...page(() => import('../pages/inbox/inbox-page.tsx'), inboxTexts),
  }),
  createRoute({
    path: '/calibrations',
    ...page(() => import('../pages/calibrations/calibrations-page.tsx'), calibrationTexts),
  }),
  createRoute({
    path: '/calibrations/new',
    // `calls`: those that are chosen already.
    validateSearch: (raw: Record<string, unknown>): { readonly calls?: string[] } => {
      const calls = [raw['calls'] ?? []].flat().map(String);
      return calls.length === 0 ? {} : { calls };
    },
    ...page(() => import('../pages/calibrations/new-calibration-page.tsx'), calibrationTexts),
  }),
  createRoute({
    path: '/calibrations/$uuid',
    ...page(() => import('../pages/calibrations/calibration-page.tsx'), calibrationTexts),
  }),
  createRoute({
    path: '/calibrations/$uuid/calls/$call',
    // The transcript is that of the page of a call.
    ...page(() => import('../pages/calibrations/answer-page.tsx'), calibrationTexts, callTexts),
  }),
  createRoute({
    path: '/review',
    // Which calls of the queue a person wants. `rule`: the sampling rule that has chosen them.
    validateSearch: texts('segment', 'operator', 'score', 'rule'),
    // The transcript and the answers are those of the page of a call.
    ...page(() => import('../pages/review/review-page.tsx'), reviewTexts, callTexts),
  }),
  createRoute({
    path: '/upload',
    ...page(() => import('../pages/upload/upload-page.tsx'), uploadTexts),
  }),
  createRoute({
    path: '/settings',
    // `tab`: the part that is shown. `webhook`: the one whose deliveries are shown. The others filter the audit log.
    validateSearch: texts('tab', 'webhook', 'actor', 'action', 'subject', 'from', 'to'),
    // The filters of a sampling rule are those of the calls page, topics included.
    ...page(() => import('../pages/settings/settings-page.tsx'), settingsTexts, callsTexts, topicTexts),
  }),
  createRoute({
    path: '/dashboard',
    // `days`: the length of the period, which ends today, unless `from` and `to` are chosen. `tz`: an IANA time zone. `scorecard`:
    // whose agreement is shown. `least`: the calls that a ranked operator or group has at least.
    validateSearch: texts('days', 'tz', 'measure', 'scorecard', 'least', ...SCOPE),
    ...page(() => import('../pages/dashboard/dashboard-page.tsx'), dashboardTexts, comparisonTexts, topicTexts),
  }),
  createRoute({
    path: '/operator',
    validateSearch: texts('name', 'from', 'to'),
    ...page(() => import('../pages/comparison/operator-page.tsx'), comparisonTexts),
  }),
  createRoute({
    path: '/compare',
    validateSearch: texts(...SCOPE.flatMap((field) => [`a_${field}`, `b_${field}`] as const)),
    ...page(() => import('../pages/comparison/compare-page.tsx'), comparisonTexts),
  }),
  createRoute({
    path: '/scorecards',
    // `uuid`: the scorecard that is shown. `compare`: the earlier revision that it is compared with.
    validateSearch: texts('uuid', 'compare'),
    ...page(() => import('../pages/scorecards/scorecards-page.tsx'), scorecardsTexts),
  }),
] as const;
