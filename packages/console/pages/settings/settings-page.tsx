import './settings.css';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Role, useSession } from '../../session/session.ts';
import { Page, Tab } from '../../widgets/page.tsx';
import { settingsTexts } from '../texts.ts';
import { ApiKeys } from './api-keys.tsx';
import { Audit } from './audit.tsx';
import { Firm } from './firm.tsx';
import { Money } from './money.tsx';
import { SamplingRules } from './sampling-rules.tsx';
import { Users } from './users.tsx';
import { Webhooks } from './webhooks.tsx';

const route = getRouteApi('/settings');

interface Part {
  readonly name: 'firm' | 'users' | 'keys' | 'webhooks' | 'sampling' | 'money' | 'audit';
  /** Those whom the service lets use it. */
  readonly roles: readonly Role[];
  readonly show: () => ReactNode;
}

const TABS: readonly Part[] = [
  { name: 'firm', roles: ['ADMIN', 'WORKFLOW_ENGINEER', 'SUPERUSER'], show: () => <Firm /> },
  { name: 'users', roles: ['ADMIN', 'SUPERUSER'], show: () => <Users /> },
  { name: 'keys', roles: ['SUPERUSER', 'WORKFLOW_ENGINEER'], show: () => <ApiKeys /> },
  { name: 'webhooks', roles: ['ADMIN'], show: () => <Webhooks /> },
  { name: 'sampling', roles: ['ADMIN'], show: () => <SamplingRules /> },
  { name: 'money', roles: ['ADMIN'], show: () => <Money /> },
  { name: 'audit', roles: ['ADMIN'], show: () => <Audit /> },
];

/** The parts of the settings that the user's role may use. */
export default function SettingsPage() {
  const t = settingsTexts.use();
  const { role } = useSession();
  const { tab } = route.useSearch();
  const tabs = TABS.filter(({ roles }) => roles.includes(role));
  const shown = tabs.find(({ name }) => name === tab) ?? tabs[0]!;
  return (
    <Page title={t('title')} className="settings">
      <nav className="row chips" aria-label={t('title')}>
        {tabs.map(({ name }) => (
          <Tab key={name} to="/settings" search={{ tab: name }} isShown={name === shown.name}>
            {t(`tab.${name}`)}
          </Tab>
        ))}
      </nav>
      {shown.show()}
    </Page>
  );
}
