import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { whenOnline } from '../api/connection.ts';
import { rootRoute } from '../app/root-route.ts';
import { currentLocale } from '../i18n/texts.ts';
import { topicTexts } from '../i18n/topics/texts.ts';
import { calibrationTexts } from './calibrations/texts.ts';
import { callTexts } from './call/texts.ts';
import { callSearch } from './calls/call-search.ts';
import { callsTexts } from './calls/texts.ts';
import { StartPage } from './calls/views/start-page.tsx';
import { SCOPE } from './comparison/scope-fields.ts';
import { comparisonTexts } from './comparison/texts.ts';
import { dashboardTexts } from './dashboard/texts.ts';
import { inboxTexts } from './inbox/texts.ts';
import { reviewTexts } from './review/texts.ts';
import { scorecardsTexts } from './scorecards/texts.ts';
import { settingsTexts } from './settings/texts.ts';
import { uploadTexts } from './upload/texts.ts';

const getParentRoute = () => rootRoute;

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
    component: lazyRouteComponent(() => whenOnline(() => import('./calls/views/view-link.tsx')), 'ViewLink'),
  }),
  createRoute({
    getParentRoute,
    path: '/calls',
    validateSearch: callSearch,
    loader: () => Promise.all([callsTexts.load(currentLocale()), topicTexts.load(currentLocale())]),
    component: lazyRouteComponent(() => whenOnline(() => import('./calls/calls-page.tsx')), 'CallsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/calls/$uuid',
    // `q`: the words that the call was found by. `question`: the one to open first. `t`: the second to begin at.
    validateSearch: texts('q', 'question', 't'),
    loader: () => Promise.all([callTexts.load(currentLocale()), topicTexts.load(currentLocale())]),
    component: lazyRouteComponent(() => whenOnline(() => import('./call/call-page.tsx')), 'CallPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/inbox',
    loader: () => inboxTexts.load(currentLocale()),
    component: lazyRouteComponent(() => whenOnline(() => import('./inbox/inbox-page.tsx')), 'InboxPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/calibrations',
    loader: () => calibrationTexts.load(currentLocale()),
    component: lazyRouteComponent(
      () => whenOnline(() => import('./calibrations/calibrations-page.tsx')),
      'CalibrationsPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/calibrations/new',
    // `calls`: those that are chosen already.
    validateSearch: (raw: Record<string, unknown>): { readonly calls?: string[] } => {
      const calls = [raw['calls'] ?? []].flat().map(String);
      return calls.length === 0 ? {} : { calls };
    },
    loader: () => calibrationTexts.load(currentLocale()),
    component: lazyRouteComponent(
      () => whenOnline(() => import('./calibrations/new-calibration-page.tsx')),
      'NewCalibrationPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/calibrations/$uuid',
    loader: () => calibrationTexts.load(currentLocale()),
    component: lazyRouteComponent(
      () => whenOnline(() => import('./calibrations/calibration-page.tsx')),
      'CalibrationPage',
    ),
  }),
  createRoute({
    getParentRoute,
    path: '/calibrations/$uuid/calls/$call',
    // The transcript is that of the page of a call.
    loader: () => Promise.all([calibrationTexts.load(currentLocale()), callTexts.load(currentLocale())]),
    component: lazyRouteComponent(() => whenOnline(() => import('./calibrations/answer-page.tsx')), 'AnswerPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/review',
    // The transcript and the answers are those of the page of a call.
    loader: () => Promise.all([reviewTexts.load(currentLocale()), callTexts.load(currentLocale())]),
    component: lazyRouteComponent(() => whenOnline(() => import('./review/review-page.tsx')), 'ReviewPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/upload',
    loader: () => uploadTexts.load(currentLocale()),
    component: lazyRouteComponent(() => whenOnline(() => import('./upload/upload-page.tsx')), 'UploadPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    // `tab`: the part that is shown. `webhook`: the one whose deliveries are shown. The others filter the audit log.
    validateSearch: texts('tab', 'webhook', 'actor', 'action', 'subject', 'from', 'to'),
    loader: () => settingsTexts.load(currentLocale()),
    component: lazyRouteComponent(() => whenOnline(() => import('./settings/settings-page.tsx')), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/dashboard',
    // `days`: the length of the period, which ends today, unless `from` and `to` are chosen. `tz`: an IANA time zone. `scorecard`:
    // whose agreement is shown. `least`: the calls that a ranked operator or group has at least.
    validateSearch: texts('days', 'tz', 'measure', 'scorecard', 'least', ...SCOPE),
    loader: () =>
      Promise.all([
        dashboardTexts.load(currentLocale()),
        comparisonTexts.load(currentLocale()),
        topicTexts.load(currentLocale()),
      ]),
    component: lazyRouteComponent(() => whenOnline(() => import('./dashboard/dashboard-page.tsx')), 'DashboardPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/operator',
    validateSearch: texts('name', 'from', 'to'),
    loader: () => comparisonTexts.load(currentLocale()),
    component: lazyRouteComponent(() => whenOnline(() => import('./comparison/operator-page.tsx')), 'OperatorPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/compare',
    validateSearch: texts(...SCOPE.flatMap((field) => [`a_${field}`, `b_${field}`] as const)),
    loader: () => comparisonTexts.load(currentLocale()),
    component: lazyRouteComponent(() => whenOnline(() => import('./comparison/compare-page.tsx')), 'ComparePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/scorecards',
    // `uuid`: the scorecard that is shown. `compare`: the earlier revision that it is compared with.
    validateSearch: texts('uuid', 'compare'),
    loader: () => scorecardsTexts.load(currentLocale()),
    component: lazyRouteComponent(() => whenOnline(() => import('./scorecards/scorecards-page.tsx')), 'ScorecardsPage'),
  }),
] as const;
