import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { whenOnline } from '../../api/connection.ts';
import { rootRoute } from '../../app/root-route.ts';
import { currentLocale } from '../../i18n/texts.ts';
import { topicTexts } from '../../i18n/topics/texts.ts';
import { callTexts } from './texts.ts';

/** `q`: the words that the call was found by. `question`: the one to open first. */
interface CallPageSearch {
  readonly q?: string;
  readonly question?: string;
}

export const callRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/calls/$uuid',
  validateSearch: (raw: Record<string, unknown>): CallPageSearch =>
    Object.fromEntries(['q', 'question'].flatMap((name) => (typeof raw[name] === 'string' ? [[name, raw[name]]] : []))),
  loader: () => Promise.all([callTexts.load(currentLocale()), topicTexts.load(currentLocale())]),
  component: lazyRouteComponent(() => whenOnline(() => import('./call-page.tsx')), 'CallPage'),
});
