import { callRoute } from './call/route.ts';
import { callsRoute, homeRoute } from './calls/route.ts';
import { dashboardRoute } from './dashboard/route.ts';
import { reviewRoute } from './review/route.ts';
import { scorecardsRoute } from './scorecards/route.ts';
import { settingsRoute } from './settings/route.ts';
import { uploadRoute } from './upload/route.ts';

/** Every page. A page is a folder with its route, its component and its texts. The navigation is in navigation.ts. */
export const pageRoutes = [
  homeRoute,
  callsRoute,
  callRoute,
  reviewRoute,
  uploadRoute,
  settingsRoute,
  dashboardRoute,
  scorecardsRoute,
] as const;
