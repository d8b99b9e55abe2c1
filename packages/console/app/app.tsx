import '../design/tokens.css';
import '../design/base.css';
import '../design/controls.css';
import '../design/layout.css';
import '../design/parts.css';
import '../design/print.css';
import { i18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createRouter, type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from '../api/connection.ts';
import { parseSearch, stringifySearch } from '../api/search-params.ts';
import { translateFieldFaults, faultTexts } from '../i18n/faults/texts.ts';
import { shellTexts, activateLocale } from '../i18n/texts.ts';
import { currentSession } from '../session/session.ts';
import { Failed, Loading, NoPage } from '../widgets/page.tsx';
import { locale, session } from './begin.ts';
import { pageRoutes, rootRoute } from './pages.ts';
import { takeAddress } from './sign-in.tsx';

const router = createRouter({
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

await shellTexts.load(locale);
await activateLocale(locale);
await session;
if (currentSession() !== null) {
  const address = takeAddress();
  if (address !== null) router.history.replace(address);
}

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
translateFieldFaults();
void faultTexts.load(locale).catch(() => {});

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
