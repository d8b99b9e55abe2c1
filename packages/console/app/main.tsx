import '../design/tokens.css';
import '../design/base.css';
import '../design/controls.css';
import '../design/layout.css';
import { ApiError, Unreachable } from '@call-analysis/client/errors';
import { i18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { preferredLocale } from '../i18n/locales.ts';
import { activateLocale } from '../i18n/texts.ts';
import { startSession } from '../session/session.ts';
import { router } from './router.tsx';
import { shellTexts } from './shell-texts.ts';
import { applyTheme } from './theme.ts';

const RETRIES = 2;

/** Whether waiting may mend it. */
function isPassing(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof ApiError && (error.status >= 500 || error.status === 429));
}

/** Fetched data stay fresh for a moment, so that moving between pages does not fetch twice. */
const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => isPassing(error) && count < RETRIES,
      retryDelay: (count) => 500 * 2 ** count,
    },
    mutations: { networkMode: 'always' },
  },
});

applyTheme();
// The session is asked for while the texts arrive.
const session = startSession();
const locale = preferredLocale();
await shellTexts.load(locale);
await activateLocale(locale);
await session;

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
