import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import * as format from '../../i18n/format.ts';
import { Pager } from '../../widgets/pager.tsx';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import { Table } from '../../widgets/table.tsx';
import { failed } from '../../widgets/toasts.tsx';
import { settingsTexts } from './texts.ts';

type Status = Schemas['DeliveryStatus'];

const SIZE = 20;
const POLL_MS = 3_000;
const STATUSES: readonly Status[] = ['pending', 'delivered', 'failed'];
const TONES: Readonly<Record<Status, string>> = { pending: '', delivered: 'badge-good', failed: 'badge-bad' };

/** The deliveries of a webhook, newest first. */
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
  if (data === undefined) return <LoadingOrFailed query={deliveries} />;
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
        <Table
          label={t('hooks.deliveries')}
          items={data.items}
          keyOf={(delivery) => delivery.uuid}
          columns={[
            {
              title: t('created'),
              className: 'settings-line',
              cell: ({ created_at }) => `${format.date(created_at)}, ${format.timeWithSeconds(created_at)}`,
            },
            { title: t('deliveries.event'), cell: ({ event }) => nameOf(event) },
            {
              title: t('deliveries.status'),
              cell: (delivery) => (
                <span className={`badge ${TONES[delivery.status]}`}>{t(`deliveries.${delivery.status}`)}</span>
              ),
            },
            { title: t('deliveries.attempts'), kind: 'number', cell: ({ attempts }) => format.number(attempts) },
            {
              title: t('deliveries.answer'),
              className: 'foreign',
              cell: ({ last_error, last_status }) => last_error ?? last_status ?? '–',
            },
            {
              title: t('deliveries.next'),
              cell: ({ next_at }) => (next_at === null ? '–' : format.dateTime(next_at)),
            },
            {
              title: t('actions'),
              kind: 'unlabelled',
              cell: (delivery) =>
                delivery.status !== 'delivered' && (
                  <button
                    type="button"
                    className="button button-small"
                    disabled={retry.isPending}
                    onClick={() => retry.mutate(delivery.uuid)}
                  >
                    {shell('retry')}
                  </button>
                ),
            },
          ]}
        />
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

/** The test event is not one that a webhook chooses. */
function nameOf(event: string): string {
  const name = `event.${event}`;
  return settingsTexts.has(name) ? settingsTexts.translate(name) : event;
}
