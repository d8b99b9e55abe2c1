import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button, Select } from '../../widgets/controls.tsx';
import { PagedTable, usePages } from '../../widgets/list.tsx';
import { settingsTexts } from '../texts.ts';

type Status = Schemas['DeliveryStatus'];

const POLL_MS = 3_000;
const STATUSES: readonly (Status | 'all')[] = ['all', 'pending', 'delivered', 'failed'];
const TONES: Readonly<Record<Status, string>> = { pending: '', delivered: 'badge-good', failed: 'badge-bad' };

/** The deliveries of a webhook, newest first. */
export function Deliveries({ uuid }: { uuid: string }) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const [status, setStatus] = useState<Status | 'all'>('all');
  const key = ['deliveries', uuid];
  const deliveries = usePages(
    (page) =>
      get([...key, page, status], '/api/v1/webhooks/{uuid}/deliveries', {
        path: { uuid },
        query: { ...page, ...(status !== 'all' && { status: [status] }) },
      }),
    { refetchInterval: POLL_MS },
  );
  const retry = useAction(
    (delivery_uuid: string) =>
      send(
        api.POST('/api/v1/webhooks/{uuid}/deliveries/{delivery_uuid}/retry', {
          params: { path: { uuid, delivery_uuid } },
        }),
      ),
    { changes: [key] },
  );
  return (
    <div className="stack">
      <label className="row">
        <span className="field-label">{t('deliveries.status')}</span>
        <Select options={STATUSES} nameOf={(each) => t(`deliveries.${each}`)} value={status} onChoose={setStatus} />
      </label>
      <PagedTable
        label={t('hooks.deliveries')}
        pages={deliveries}
        none={<p className="muted">{t('deliveries.none')}</p>}
        keyOf={(delivery) => delivery.uuid}
        columns={[
          { title: t('created'), className: 'settings-line', cell: (each) => format.exactTime(each.created_at) },
          { title: t('deliveries.event'), cell: ({ event }) => nameOf(event) },
          {
            title: t('deliveries.status'),
            cell: (each) => <span className={`badge ${TONES[each.status]}`}>{t(`deliveries.${each.status}`)}</span>,
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
                <Button isSmall disabled={retry.isPending} onClick={() => retry.mutate(delivery.uuid)}>
                  {shell('retry')}
                </Button>
              ),
          },
        ]}
      />
    </div>
  );
}

/** The test event is not one that a webhook chooses. */
function nameOf(event: string): string {
  const name = `event.${event}`;
  return settingsTexts.has(name) ? settingsTexts.translate(name) : event;
}
