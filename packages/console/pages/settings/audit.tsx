import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { firmQuery, get, samplingRulesQuery, type Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { addDays, isDay, startOfDay } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { useSession } from '../../session/session.ts';
import { Button, SelectField, TextField, Form } from '../../widgets/controls.tsx';
import { PagedTable, usePages } from '../../widgets/list.tsx';
import { State } from '../../widgets/page.tsx';
import { settingsTexts } from '../texts.ts';

const route = getRouteApi('/settings');

const SIZE = 50;
const FILTERS = ['actor', 'action', 'subject', 'from', 'to'] as const;

/** Who did what, newest first. The filters are in the address. */
export function Audit() {
  const t = settingsTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate();
  const { actor, action, subject, from, to } = search;
  const filter = {
    actor,
    action,
    subject,
    ...(from !== undefined && isDay(from) && { from: startOfDay(from, timeZone()) }),
    // The last day counts whole: the API's end is exclusive.
    ...(to !== undefined && isDay(to) && { to: startOfDay(addDays(to, 1), timeZone()) }),
  };
  const entries = usePages((page) => get(['audit', filter, page], '/api/v1/audit', { query: { ...filter, ...page } }), {
    size: SIZE,
  });
  const choose = (text: (name: string) => string) =>
    void navigate({
      to: '/settings',
      search: { tab: 'audit', ...Object.fromEntries(FILTERS.map((name) => [name, text(name) || undefined])) },
    });
  const nameOf = useNames();
  return (
    <section className="stack">
      <Form className="settings-filters" onSend={choose} key={JSON.stringify(search)}>
        {FILTERS.map((name) =>
          name === 'action' ? (
            <SelectField
              key={name}
              label={t('audit.action')}
              name={name}
              options={actionsWith(action)}
              nameOf={(each) => (each === '' ? t('audit.anyAction') : nameOfAction(each))}
              defaultValue={action ?? ''}
            />
          ) : (
            <TextField
              key={name}
              label={t(`audit.${name}`)}
              name={name}
              type={name === 'from' || name === 'to' ? 'date' : 'text'}
              defaultValue={search[name] ?? ''}
              autoComplete="off"
            />
          ),
        )}
        <Button isSubmit>{t('audit.filter')}</Button>
      </Form>
      <PagedTable
        label={t('tab.audit')}
        className="table-frame"
        pages={entries}
        none={<State title={t('audit.none')} text={t('audit.noneText')} />}
        // One request may write several entries that differ in nothing.
        keyOf={({ request_id }, index) => `${request_id}-${index}`}
        columns={({ plain }) => [
          plain(t('audit.at'), ({ at }) => format.exactTime(at), { className: 'settings-line' }),
          plain(t('audit.action'), (entry) => (
            <>
              {nameOfAction(entry.action)}{' '}
              {entry.code !== undefined && (
                <span className="badge badge-bad">{settingsTexts.inWords('audit.code.', entry.code)}</span>
              )}
            </>
          )),
          plain(t('audit.actor'), (entry) => <Named id={entry.actor} name={entry.actor_name} filter="actor" />, {
            className: 'settings-actor',
          }),
          plain(t('audit.subject'), (entry) => (
            <Named id={entry.subject} name={entry.subject_name ?? nameOf(entry)} filter="subject" />
          )),
          plain(t('audit.address'), ({ address }) => address, { className: 'settings-line' }),
        ]}
      />
    </section>
  );
}

type Entry = Schemas['AuditEntry'];

const ACTION = 'action.';

/** All, in the order of their words, after none. One that a link names and nobody knows stays chosen. */
function actionsWith(chosen: string | undefined): readonly string[] {
  const all = new Set([...settingsTexts.codes(ACTION), ...(chosen === undefined ? [] : [chosen])]);
  return ['', ...[...all].toSorted((a, b) => nameOfAction(a).localeCompare(nameOfAction(b)))];
}

const nameOfAction = (action: string) => settingsTexts.inWords(ACTION, action);

/** The names of objects other than users, as far as an ADMIN may list them. */
function useNames(): (entry: Entry) => ReactNode {
  const t = settingsTexts.use();
  const isAdmin = useSession().role === 'ADMIN';
  const firm = useQuery(firmQuery);
  const hooks = useQuery({ ...get(['webhooks'], '/api/v1/webhooks'), enabled: isAdmin });
  const scorecards = useQuery({ ...get(['scorecards'], '/api/v1/scorecards'), enabled: isAdmin });
  const rules = useQuery({ ...samplingRulesQuery, enabled: isAdmin });
  return ({ action, subject }) => {
    const [uuid = '', part] = subject.split('/');
    if (action.startsWith('call.')) {
      return action === 'call.erased' ? null : (
        <Link to="/calls/$uuid" params={{ uuid }}>
          {t('audit.call')}
        </Link>
      );
    }
    if (action.startsWith('calibration.')) {
      return (
        <Link to="/calibrations/$uuid" params={{ uuid }}>
          {t('audit.calibration')}
        </Link>
      );
    }
    if (uuid === firm.data?.uuid) return part ?? firm.data.name;
    if (action.startsWith('webhook.')) return hooks.data?.items.find((each) => each.uuid === uuid)?.url;
    if (action.startsWith('scorecard.')) return scorecards.data?.items.find((each) => each.uuid === uuid)?.name;
    if (action.startsWith('sampling_rule.')) return rules.data?.items.find((each) => each.uuid === uuid)?.name;
    return null;
  };
}

/** A name with its id, of which the beginning is shown. The id leads to the other entries that have it. */
function Named({ id, name, filter }: { id: string; name: ReactNode; filter: 'actor' | 'subject' }) {
  const t = settingsTexts.use();
  const search = route.useSearch();
  if (!UUID.test(id)) return <code>{id}</code>;
  return (
    <span className="settings-named">
      {name !== null && name !== undefined && <span className="foreign">{name}</span>}
      <Link to="/settings" search={{ ...search, [filter]: id }} title={id} aria-label={t('audit.only', { id })}>
        <code>{id.slice(0, SHORT)}…</code>
      </Link>
    </span>
  );
}

const UUID = /^[0-9a-f]{8}-/u;
const SHORT = 8;
