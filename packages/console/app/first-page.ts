import { queryClient } from '../api/query-client.ts';
import type { Locale } from '../i18n/locales.ts';
import { topicTexts } from '../i18n/topics/texts.ts';
import { callSearch } from '../pages/calls/call-search.ts';
import { callsQuery } from '../pages/calls/calls-query.ts';
import { callsTexts } from '../pages/calls/texts.ts';
import { parseSearch } from './search-params.ts';

const isCalls = () => location.pathname === `${new URL(document.baseURI).pathname}calls`;

/** Fetches the page that people open first while the session is asked for, and not after it. */
export function fetchFirstPage(locale: Locale): void {
  if (!isCalls()) return;
  // What fails here is fetched again, and reported, where it is needed.
  for (const part of [import('../pages/calls/calls-page.tsx'), callsTexts.load(locale), topicTexts.load(locale)])
    part.catch(() => {});
}

/** Fetches its calls before anything is drawn. */
export function fetchFirstCalls(): void {
  if (isCalls()) void queryClient.prefetchInfiniteQuery(callsQuery(callSearch(parseSearch(location.search))));
}
