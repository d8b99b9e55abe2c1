import { createRouter, type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { parseSearch, stringifySearch } from '../api/search-params.ts';
import { Failed, Loading, NoPage } from '../widgets/page.tsx';
import { pageRoutes, rootRoute } from './pages.ts';

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
  defaultNotFoundComponent: () => <NoPage why="notFound" />,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** In place of a page that failed. */
function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <Failed
      error={error}
      retry={() => {
        reset();
        void router.invalidate();
      }}
    />
  );
}
