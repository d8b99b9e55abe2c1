import { createRootRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { whenOnline } from '../api/connection.ts';
import { queryClient } from '../api/query-client.ts';
import type { Locale } from '../i18n/locales.ts';
import { currentLocale } from '../i18n/texts.ts';
import { topicTexts } from '../i18n/texts.ts';
import { callSearch } from '../pages/calls/call-search.ts';
import { CallsPage } from '../pages/calls/calls-page.tsx';
import { callsQuery } from '../pages/calls/calls-query.ts';
import { StartPage, ViewLink } from '../pages/calls/views/start-page.tsx';
import { SCOPE } from '../pages/comparison/scope-fields.ts';
import { QUEUE_FILTERS } from '../pages/review/filters.ts';
import { calibrationTexts } from '../pages/texts.ts';
import { callTexts } from '../pages/texts.ts';
import { callsTexts } from '../pages/texts.ts';
import { comparisonTexts } from '../pages/texts.ts';
import { dashboardTexts } from '../pages/texts.ts';
import { inboxTexts } from '../pages/texts.ts';
import { reviewTexts } from '../pages/texts.ts';
import { scorecardsTexts } from '../pages/texts.ts';
import { settingsTexts } from '../pages/texts.ts';
import { uploadTexts } from '../pages/texts.ts';
import { currentSession } from '../session/session.ts';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRoute({ component: Shell });
const getParentRoute = () => rootRoute;

/** Loads the texts of a page in the language of the console. */
const load =
  (...pages: readonly { load(locale: Locale): Promise<void> }[]) =>
  () =>
    Promise.all(pages.map((page) => page.load(currentLocale())));

/** The component of a page that is fetched when it is opened. */
function later<Name extends string>(load: () => Promise<Record<Name, () => ReactNode>>, name: Name) {
  return lazyRouteComponent(() => whenOnline(load), name);
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
      return load(callsTexts, topicTexts)();
    },
    // With the console itself: people open it first.
    component: CallsPage,
  }),
  createRoute({
    getParentRoute,
    path: '/calls/$uuid',
    // `q`: the words that the call was found by. `question`: the one to open first. `t`: the second to begin at.
    validateSearch: texts('q', 'question', 't'),
    loader: load(callTexts, topicTexts),
    component: later(() => import('../pages/call/call-page.tsx'), 'CallPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/inbox',
    loader: load(inboxTexts),
    component: later(() => import('../pages/inbox/inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/calibrations',
    loader: load(calibrationTexts),
    component: later(() => import('../pages/calibrations/calibrations-page.tsx'), 'CalibrationsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/calibrations/new',
    // `calls`: those that are chosen already.
    validateSearch: (raw: Record<string, unknown>): { readonly calls?: string[] } => {
      const calls = [raw['calls'] ?? []].flat().map(String);
      return calls.length === 0 ? {} : { calls };
    },
    loader: load(calibrationTexts),
    component: later(() => import('../pages/calibrations/new-calibration-page.tsx'), 'NewCalibrationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/calibrations/$uuid',
    loader: load(calibrationTexts),
    component: later(() => import('../pages/calibrations/calibration-page.tsx'), 'CalibrationPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/calibrations/$uuid/calls/$call',
    // The transcript is that of the page of a call.
    loader: load(calibrationTexts, callTexts),
    component: later(() => import('../pages/calibrations/answer-page.tsx'), 'AnswerPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/review',
    validateSearch: texts(...QUEUE_FILTERS),
    // The transcript and the answers are those of the page of a call.
    loader: load(reviewTexts, callTexts),
    component: later(() => import('../pages/review/review-page.tsx'), 'ReviewPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/upload',
    loader: load(uploadTexts),
    component: later(() => import('../pages/upload/upload-page.tsx'), 'UploadPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    // `tab`: the part that is shown. `webhook`: the one whose deliveries are shown. The others filter the audit log.
    validateSearch: texts('tab', 'webhook', 'actor', 'action', 'subject', 'from', 'to'),
    // The filters of a sampling rule are those of the calls page, topics included.
    loader: load(settingsTexts, callsTexts, topicTexts),
    component: later(() => import('../pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/dashboard',
    // `days`: the length of the period, which ends today, unless `from` and `to` are chosen. `tz`: an IANA time zone. `scorecard`:
    // whose agreement is shown. `least`: the calls that a ranked operator or group has at least.
    validateSearch: texts('days', 'tz', 'measure', 'scorecard', 'least', ...SCOPE),
    loader: load(dashboardTexts, comparisonTexts, topicTexts),
    component: later(() => import('../pages/dashboard/dashboard-page.tsx'), 'DashboardPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operator',
    validateSearch: texts('name', 'from', 'to'),
    loader: load(comparisonTexts),
    component: later(() => import('../pages/comparison/operator-page.tsx'), 'OperatorPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/compare',
    validateSearch: texts(...SCOPE.flatMap((field) => [`a_${field}`, `b_${field}`] as const)),
    loader: load(comparisonTexts),
    component: later(() => import('../pages/comparison/compare-page.tsx'), 'ComparePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/scorecards',
    // `uuid`: the scorecard that is shown. `compare`: the earlier revision that it is compared with.
    validateSearch: texts('uuid', 'compare'),
    loader: load(scorecardsTexts),
    component: later(() => import('../pages/scorecards/scorecards-page.tsx'), 'ScorecardsPage'),
  }),
] as const;
