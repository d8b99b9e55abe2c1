import '../design/tokens.css';
import '../design/base.css';
import '../design/controls.css';
import '../design/layout.css';
import '../design/print.css';
import { i18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from '../api/query-client.ts';
import { translateFieldFaults } from '../i18n/faults/field-faults.ts';
import { faultTexts } from '../i18n/faults/texts.ts';
import { preferredLocale } from '../i18n/locales.ts';
import { activateLocale } from '../i18n/texts.ts';
import { currentSession, startSession } from '../session/session.ts';
import { fetchFirstCalls, fetchFirstPage } from './first-page.ts';
import { takeAddress } from './return-address.ts';
import { router } from './router.tsx';
import { shellTexts } from './shell-texts.ts';
import { applyTheme } from './theme.ts';

applyTheme();
// The session is asked for while the texts arrive.
const session = startSession();
const locale = preferredLocale();
fetchFirstPage(locale);
void session.then(() => {
  if (currentSession() !== null) fetchFirstCalls();
});
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
