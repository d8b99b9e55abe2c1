import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SyntheticEvent } from 'react';
import { api, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { instantOf, localInput } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Fault } from '../../widgets/fault.tsx';
import { Field } from '../../widgets/field.tsx';
import { done } from '../../widgets/toasts.tsx';
import { settingsTexts } from './texts.ts';

const DAY_MS = 86_400_000;

/** Sends again what a webhook was sent in a period. */
export function Replay({ uuid, onClose }: { uuid: string; onClose: () => void }) {
  const t = settingsTexts.use();
  const client = useQueryClient();
  const replay = useMutation({
    mutationFn: (body: { from: string; to: string }) =>
      send(api.POST('/api/v1/webhooks/{uuid}/replay', { params: { path: { uuid } }, body })),
    onSuccess: ({ deliveries }) => {
      onClose();
      done(t('replay.done', { n: deliveries, count: format.number(deliveries) }));
      void client.invalidateQueries({ queryKey: ['deliveries', uuid] });
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const instant = (name: string) => instantOf(String(form.get(name)), timeZone());
    replay.mutate({ from: instant('from'), to: instant('to') });
  };
  const now = Date.now();
  return (
    <Dialog title={t('replay')} onClose={onClose}>
      <p>{t('replay.text')}</p>
      <form className="settings-form" onSubmit={submit}>
        <Field label={t('replay.from')}>
          <input
            className="input"
            name="from"
            type="datetime-local"
            required
            defaultValue={localInput(now - DAY_MS, timeZone())}
          />
        </Field>
        <Field label={t('replay.to')}>
          <input
            className="input"
            name="to"
            type="datetime-local"
            required
            defaultValue={localInput(now + 60_000, timeZone())}
          />
        </Field>
        {replay.isError && <Fault error={replay.error} />}
        <DialogActions onClose={onClose}>
          <button type="submit" className="button button-primary" disabled={replay.isPending}>
            {t('replay.send')}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
