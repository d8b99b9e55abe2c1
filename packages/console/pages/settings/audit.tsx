import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SyntheticEvent, useState } from 'react';
import { api, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { Pager } from '../../widgets/pager.tsx';
import { Failed, Loading, State } from '../../widgets/states.tsx';
import { settingsRoute } from './route.ts';
import { settingsTexts } from './texts.ts';

const SIZE = 50;
const FILTERS = ['actor', 'action', 'subject', 'from', 'to'] as const;

/** Who did what, newest first. The filters are in the address. */
export function Audit() {
  const t = settingsTexts.use();
  const search = settingsRoute.useSearch();
  const navigate = useNavigate();
  const [page, setPage] = useState(1);
  const { actor, action, subject, from, to } = search;
  const query = { actor, action, subject, from, to: to === undefined ? undefined : dayAfter(to), page, size: SIZE };
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
  return (
    <section className="settings-part">
      <form className="settings-filters" onSubmit={submit} key={JSON.stringify(search)}>
        {FILTERS.map((name) => (
          <label key={name} className="field">
            <span className="field-label">{t(`audit.${name}`)}</span>
            <input
              className="input"
              name={name}
              type={name === 'from' || name === 'to' ? 'date' : 'text'}
              defaultValue={search[name] ?? ''}
              autoComplete="off"
              {...(name === 'action' && { placeholder: 'api_key.created' })}
            />
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
          <div className="table-frame" tabIndex={0} role="region" aria-label={t('tab.audit')}>
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">{t('audit.at')}</th>
                  <th scope="col">{t('audit.action')}</th>
                  <th scope="col">{t('audit.actor')}</th>
                  <th scope="col">{t('audit.subject')}</th>
                  <th scope="col">{t('audit.address')}</th>
                </tr>
              </thead>
              <tbody>
                {data.items.map((entry, index) => (
                  // One request may write several entries that differ in nothing.
                  // oxlint-disable-next-line react/no-array-index-key
                  <tr key={`${entry.request_id}-${index}`}>
                    <td className="number settings-line">
                      {format.date(entry.at)}, {format.timeWithSeconds(entry.at)}
                    </td>
                    <td>
                      <code>{entry.action}</code>
                      {entry.code !== undefined && <span className="badge badge-bad">{entry.code}</span>}
                    </td>
                    <td>
                      <code>{entry.actor}</code>
                    </td>
                    <td className="foreign">
                      <code>{entry.subject}</code>
                    </td>
                    <td className="settings-line">{entry.address}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
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

/** The last day counts whole: the API's end is exclusive. */
function dayAfter(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().slice(0, 10);
}
