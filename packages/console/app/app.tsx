import '../design/tokens.css';
import '../design/base.css';
import '../design/controls.css';
import '../design/layout.css';
import '../design/parts.css';
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
import { shellTexts } from '../i18n/texts.ts';
import { activateLocale } from '../i18n/texts.ts';
import { currentSession } from '../session/session.ts';
import { locale, session } from './begin.ts';
import { takeAddress } from './return-address.ts';
import { router } from './router.tsx';

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
