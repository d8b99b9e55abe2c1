import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import { FormDialog } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { DAY_MS, instantOf, localInput } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { useAction, done } from '../../widgets/actions.tsx';
import { Button, Select, TextField } from '../../widgets/controls.tsx';
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
        className="table-frame"
        pages={deliveries}
        none={<p className="muted">{t('deliveries.none')}</p>}
        keyOf={(delivery) => delivery.uuid}
        columns={({ plain, number, text, actions }) => [
          plain(t('created'), (each) => format.exactTime(each.created_at), { className: 'settings-line' }),
          // The test event is not one that a webhook chooses.
          plain(t('deliveries.event'), ({ event }) => settingsTexts.inWords('event.', event)),
          plain(t('deliveries.status'), (each) => (
            <span className={`badge ${TONES[each.status]}`}>{t(`deliveries.${each.status}`)}</span>
          )),
          number(t('deliveries.attempts'), ({ attempts }) => format.number(attempts)),
          text(t('deliveries.answer'), ({ last_error, last_status }) => last_error ?? last_status ?? '–'),
          plain(t('deliveries.next'), ({ next_at }) => (next_at === null ? '–' : format.dateTime(next_at))),
          actions(
            t('actions'),
            (delivery) =>
              delivery.status !== 'delivered' && (
                <Button isSmall disabled={retry.isPending} onClick={() => retry.mutate(delivery.uuid)}>
                  {shell('retry')}
                </Button>
              ),
          ),
        ]}
      />
    </div>
  );
}

/** Sends again what a webhook was sent in a period. */
export function Replay({ uuid, onClose }: { uuid: string; onClose: () => void }) {
  const t = settingsTexts.use();
  const now = Date.now();
  const field = (name: 'from' | 'to', instant: number) => (
    <TextField
      label={t(`replay.${name}`)}
      name={name}
      type="datetime-local"
      required
      defaultValue={localInput(instant, timeZone())}
    />
  );
  return (
    <FormDialog
      title={t('replay')}
      about={<p>{t('replay.text')}</p>}
      action={t('replay.send')}
      draft={`replay ${uuid}`}
      isRepeatable={false}
      save={({ text }) => {
        const body = { from: instantOf(text('from'), timeZone()), to: instantOf(text('to'), timeZone()) };
        return send(api.POST('/api/v1/webhooks/{uuid}/replay', { params: { path: { uuid } }, body }));
      }}
      onSaved={({ deliveries }) => done(t('replay.done', { n: deliveries, count: format.number(deliveries) }))}
      changes={['deliveries', uuid]}
      onClose={onClose}
    >
      {field('from', now - DAY_MS)}
      {field('to', now + 60_000)}
    </FormDialog>
  );
}
