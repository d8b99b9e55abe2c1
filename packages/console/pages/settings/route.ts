import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { whenOnline } from '../../api/connection.ts';
import { rootRoute } from '../../app/root-route.ts';
import { currentLocale } from '../../i18n/texts.ts';
import { settingsTexts } from './texts.ts';

/** `tab`: the part that is shown. `webhook`: the webhook whose deliveries are shown. The others filter the audit log. */
interface SettingsSearch {
  readonly tab?: string;
  readonly webhook?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly from?: string;
  readonly to?: string;
}

const NAMES = ['tab', 'webhook', 'actor', 'action', 'subject', 'from', 'to'];

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: (raw: Record<string, unknown>): SettingsSearch =>
    Object.fromEntries(
      NAMES.flatMap((name) => (typeof raw[name] === 'string' && raw[name] !== '' ? [[name, raw[name]]] : [])),
    ),
  loader: () => settingsTexts.load(currentLocale()),
  component: lazyRouteComponent(() => whenOnline(() => import('./settings-page.tsx')), 'SettingsPage'),
});
