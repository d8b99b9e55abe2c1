import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import * as format from '../../i18n/format.ts';
import { Pager } from '../../widgets/pager.tsx';
import { Failed, Loading } from '../../widgets/states.tsx';
import { failed } from '../../widgets/toasts.tsx';
import { settingsTexts } from './texts.ts';

type Status = Schemas['DeliveryStatus'];

const SIZE = 20;
const POLL_MS = 3_000;
const STATUSES: readonly Status[] = ['pending', 'delivered', 'failed'];
const TONES: Readonly<Record<Status, string>> = { pending: '', delivered: 'badge-good', failed: 'badge-bad' };

/** What was sent to a webhook, newest first. */
export function Deliveries({ uuid }: { uuid: string }) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const client = useQueryClient();
  const [page, setPage] = useState(1);
  const [status, setStatus] = useState<Status | ''>('');
  const deliveries = useQuery({
    queryKey: ['deliveries', uuid, page, status],
    queryFn: ({ signal }) =>
      send(
        api.GET('/api/v1/webhooks/{uuid}/deliveries', {
          params: { path: { uuid }, query: { page, size: SIZE, ...(status !== '' && { status: [status] }) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: POLL_MS,
  });
  const retry = useMutation({
    mutationFn: async (delivery_uuid: string) => {
      await send(
        api.POST('/api/v1/webhooks/{uuid}/deliveries/{delivery_uuid}/retry', {
          params: { path: { uuid, delivery_uuid } },
        }),
      );
      await client.invalidateQueries({ queryKey: ['deliveries', uuid] });
    },
    onError: failed,
  });
  const { data } = deliveries;
  if (data === undefined)
    return deliveries.isPending ? (
      <Loading />
    ) : (
      <Failed error={deliveries.error} retry={() => void deliveries.refetch()} />
    );
  return (
    <div className="settings-part">
      <label className="settings-row">
        <span className="field-label">{t('deliveries.status')}</span>
        <select
          className="input"
          value={status}
          onChange={({ target }) => {
            setPage(1);
            setStatus(STATUSES.find((each) => each === target.value) ?? '');
          }}
        >
          <option value="">{t('deliveries.all')}</option>
          {STATUSES.map((each) => (
            <option key={each} value={each}>
              {t(`deliveries.${each}`)}
            </option>
          ))}
        </select>
      </label>
      {data.count === 0 && <p className="muted">{t('deliveries.none')}</p>}
      {data.count > 0 && (
        <div className="table-frame" tabIndex={0} role="region" aria-label={t('hooks.deliveries')}>
          <table role="table" className="table table-stack">
            <thead role="rowgroup">
              <tr role="row">
                <th role="columnheader" scope="col">
                  {t('created')}
                </th>
                <th role="columnheader" scope="col">
                  {t('deliveries.event')}
                </th>
                <th role="columnheader" scope="col">
                  {t('deliveries.status')}
                </th>
                <th role="columnheader" scope="col" className="number">
                  {t('deliveries.attempts')}
                </th>
                <th role="columnheader" scope="col">
                  {t('deliveries.answer')}
                </th>
                <th role="columnheader" scope="col">
                  {t('deliveries.next')}
                </th>
                <th role="columnheader" scope="col">
                  {t('deeds')}
                </th>
              </tr>
            </thead>
            <tbody role="rowgroup">
              {data.items.map((delivery) => (
                <tr role="row" key={delivery.uuid}>
                  <td role="cell" className="settings-line" data-column={t('created')}>
                    {format.date(delivery.created_at)}, {format.timeWithSeconds(delivery.created_at)}
                  </td>
                  <td role="cell" data-column={t('deliveries.event')}>
                    <code>{delivery.event}</code>
                  </td>
                  <td role="cell" data-column={t('deliveries.status')}>
                    <span className={`badge ${TONES[delivery.status]}`}>{t(`deliveries.${delivery.status}`)}</span>
                  </td>
                  <td role="cell" className="number" data-column={t('deliveries.attempts')}>
                    {format.number(delivery.attempts)}
                  </td>
                  <td role="cell" className="foreign" data-column={t('deliveries.answer')}>
                    {delivery.last_error ?? delivery.last_status ?? '–'}
                  </td>
                  <td role="cell" data-column={t('deliveries.next')}>
                    {delivery.next_at === null ? '–' : format.dateTime(delivery.next_at)}
                  </td>
                  <td role="cell">
                    {delivery.status !== 'delivered' && (
                      <button
                        type="button"
                        className="button button-small"
                        disabled={retry.isPending}
                        onClick={() => retry.mutate(delivery.uuid)}
                      >
                        {shell('retry')}
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pager
        name={t('hooks.deliveries')}
        earlier={t('newer')}
        later={t('older')}
        page={page}
        pages={Math.ceil(data.count / SIZE)}
        onPage={setPage}
      />
    </div>
  );
}
