import { createRouter } from '@tanstack/react-router';
import { pageRoutes } from '../pages/pages.ts';
import { PageFailed } from '../widgets/page-failed.tsx';
import { Loading } from '../widgets/states.tsx';
import { NotFound } from './not-found.tsx';
import { rootRoute } from './root-route.ts';
import { parseSearch, stringifySearch } from './search-params.ts';

export const router = createRouter({
  routeTree: rootRoute.addChildren(pageRoutes),
  basepath: new URL(document.baseURI).pathname,
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 300,
  defaultPendingComponent: Loading,
  defaultErrorComponent: PageFailed,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
