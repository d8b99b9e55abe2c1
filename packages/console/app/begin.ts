import { askEarly } from '../api/early.ts';
import { parseSearch, stringify } from '../api/search-params.ts';
import shared from '../i18n/all?texts';
import { preferredLocale } from '../i18n/locales.ts';
import pages from '../pages/all?texts';
import { callSearch, firstPage } from '../pages/calls/call-search.ts';
import { may, currentSession, SERVICE_URL, startSession } from '../session/session.ts';
import { applyTheme } from '../widgets/use-media.ts';

export const locale = preferredLocale();

const path = location.pathname.slice(new URL(document.baseURI).pathname.length);

/** Resolves when it is known who is signed in. What the first page shows is asked for at once, and not once it is drawn. */
export const session = startSession().then(() => {
  const signedIn = currentSession();
  if (signedIn === null) return;
  const ask = (what: string) =>
    askEarly(`${SERVICE_URL}/api/v1/${what}`, { headers: { authorization: `Bearer ${signedIn.token}` } });
  if (path === 'calls') ask(`calls?${stringify(firstPage(callSearch(parseSearch(location.search))))}`);
  // The start leads to all calls, unless a view was chosen for it.
  if (path === '' && may(signedIn.role, 'review')) ask('views?page=1&size=100');
  if (path === '') ask(`calls?${stringify(firstPage({}))}`);
});

applyTheme();
const early = path === '' || path === 'calls' ? [shared['shell'], pages['calls'], shared['topics']] : [shared['shell']];
for (const texts of early) askEarly(texts?.[locale] ?? '');
