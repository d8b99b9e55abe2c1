import { api, send } from '../../api/client.ts';
import { FormDialog } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { instantOf, localInput } from '../../i18n/zone/days.ts';
import { timeZone } from '../../i18n/zone/zone.ts';
import { done } from '../../widgets/actions.tsx';
import { TextField } from '../../widgets/controls.tsx';
import { settingsTexts } from '../texts.ts';

const DAY_MS = 86_400_000;

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
