import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { firmQuery } from '../../api/firm.ts';
import * as format from '../../i18n/format.ts';
import { addDays, startOfDay } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { useSession } from '../../session/session.ts';
import { Pager } from '../../widgets/pager.tsx';
import { Failed, Loading, State } from '../../widgets/states.tsx';
import { Table } from '../../widgets/table.tsx';
import { settingsTexts } from './texts.ts';

const route = getRouteApi('/settings');

const SIZE = 50;
const FILTERS = ['actor', 'action', 'subject', 'from', 'to'] as const;

/** Who did what, newest first. The filters are in the address. */
export function Audit() {
  const t = settingsTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate();
  const [page, setPage] = useState(1);
  const { actor, action, subject, from, to } = search;
  const period = {
    ...(from !== undefined && { from: startOfDay(from, timeZone()) }),
    // The last day counts whole: the API's end is exclusive.
    ...(to !== undefined && { to: startOfDay(addDays(to, 1), timeZone()) }),
  };
  const query = { actor, action, subject, ...period, page, size: SIZE };
  const entries = useQuery({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => send(api.GET('/api/v1/audit', { params: { query: query as object }, signal })),
    placeholderData: keepPreviousData,
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const values = FILTERS.map((name) => [name, String(form.get(name) ?? '').trim()] as const);
    setPage(1);
    void navigate({
      to: '/settings',
      search: { tab: 'audit', ...Object.fromEntries(values.filter(([, value]) => value !== '')) },
    });
  };
  const { data } = entries;
  const nameOf = useNames();
  return (
    <section className="settings-part">
      <form className="settings-filters" onSubmit={submit} key={JSON.stringify(search)}>
        {FILTERS.map((name) => (
          <label key={name} className="field">
            <span className="field-label">{t(`audit.${name}`)}</span>
            {name === 'action' ? (
              <Actions chosen={search.action ?? ''} />
            ) : (
              <input
                className="input"
                name={name}
                type={name === 'from' || name === 'to' ? 'date' : 'text'}
                defaultValue={search[name] ?? ''}
                autoComplete="off"
              />
            )}
          </label>
        ))}
        <button type="submit" className="button">
          {t('audit.filter')}
        </button>
      </form>
      {data === undefined && entries.isPending && <Loading />}
      {entries.isError && <Failed error={entries.error} retry={() => void entries.refetch()} />}
      {data?.count === 0 && <State title={t('audit.none')} text={t('audit.noneText')} />}
      {data !== undefined && data.count > 0 && !entries.isError && (
        <>
          <Table
            label={t('tab.audit')}
            // One request may write several entries that differ in nothing.
            keyOf={({ request_id }, index) => `${request_id}-${index}`}
            items={data.items}
            columns={[
              {
                title: t('audit.at'),
                className: 'settings-line',
                cell: ({ at }) => `${format.date(at)}, ${format.timeWithSeconds(at)}`,
              },
              {
                title: t('audit.action'),
                cell: ({ action, code }) => (
                  <>
                    {nameOfAction(action)}
                    {code !== undefined && <span className="badge badge-bad">{code}</span>}
                  </>
                ),
              },
              {
                title: t('audit.actor'),
                className: 'settings-actor',
                cell: ({ actor, actor_name }) => <Named id={actor} name={actor_name} filter="actor" />,
              },
              {
                title: t('audit.subject'),
                cell: (entry) => (
                  <Named id={entry.subject} name={entry.subject_name ?? nameOf(entry)} filter="subject" />
                ),
              },
              { title: t('audit.address'), className: 'settings-line', cell: ({ address }) => address },
            ]}
          />
          <Pager
            name={t('tab.audit')}
            earlier={t('newer')}
            later={t('older')}
            page={page}
            pages={Math.ceil(data.count / SIZE)}
            onPage={setPage}
          />
        </>
      )}
    </section>
  );
}

type Entry = Schemas['AuditEntry'];

/** The actions in words, in the order of the words. One that a link names and nobody knows stays chosen. */
function Actions({ chosen }: { chosen: string }) {
  const t = settingsTexts.use();
  const known = settingsTexts.keys().flatMap((key) => (key.startsWith(ACTION) ? [key.slice(ACTION.length)] : []));
  const all = [...new Set([...known, ...(chosen === '' ? [] : [chosen])])].map((action) => ({
    action,
    name: nameOfAction(action),
  }));
  return (
    <select className="input" name="action" defaultValue={chosen}>
      <option value="">{t('audit.anyAction')}</option>
      {all
        .toSorted((a, b) => a.name.localeCompare(b.name))
        .map(({ action, name }) => (
          <option key={action} value={action}>
            {name}
          </option>
        ))}
    </select>
  );
}

const ACTION = 'action.';

function nameOfAction(action: string): string {
  const name = ACTION + action;
  return settingsTexts.has(name) ? settingsTexts.translate(name) : action;
}

/** The names of objects other than users, as far as an ADMIN may list them. */
function useNames(): (entry: Entry) => ReactNode {
  const t = settingsTexts.use();
  const isAdmin = useSession().role === 'ADMIN';
  const firm = useQuery(firmQuery);
  const hooks = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => send(api.GET('/api/v1/webhooks', { signal })),
    enabled: isAdmin,
  });
  const scorecards = useQuery({
    queryKey: ['scorecards'],
    queryFn: ({ signal }) => send(api.GET('/api/v1/scorecards', { signal })),
    enabled: isAdmin,
  });
  return ({ action, subject }) => {
    const [uuid = '', part] = subject.split('/');
    if (action.startsWith('call.')) {
      return action === 'call.erased' ? null : (
        <Link to="/calls/$uuid" params={{ uuid }}>
          {t('audit.call')}
        </Link>
      );
    }
    if (uuid === firm.data?.uuid) return part ?? firm.data.name;
    if (action.startsWith('webhook.')) return hooks.data?.items.find((each) => each.uuid === uuid)?.url;
    if (action.startsWith('scorecard.')) return scorecards.data?.items.find((each) => each.uuid === uuid)?.name;
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
