import { api, type Schemas, send } from '../../api/client.ts';
import { type Fields, FormDialog } from '../../drafts/form.tsx';
import { mergeLists } from '../../drafts/merge-lists.ts';
import { Check, TextField } from '../../widgets/controls.tsx';
import { settingsTexts } from '../texts.ts';

type Webhook = Schemas['Webhook'];
type Event = Schemas['WebhookEvent'];

const EVENTS: readonly Event[] = [
  'call.completed',
  'call.failed',
  'call.reviewed',
  'call.erased',
  'batch.finished',
  'campaign.finished',
  'budget.spent',
];

interface Props {
  readonly webhook: Webhook | null;
  /** The secret of a new webhook; null after a change. */
  readonly onSecret: (secret: string | null) => void;
  readonly onClose: () => void;
}

export function WebhookForm({ webhook, onSecret, onClose }: Props) {
  const t = settingsTexts.use();
  const save = async ({ text, all, isChanged }: Fields) => {
    const [url, description] = [text('url'), text('description') || null];
    const events = EVENTS.filter((each) => all('events').includes(each));
    if (webhook === null)
      return (await send(api.POST('/api/v1/webhooks', { body: { url, description, events } }))).secret;
    const params = { path: { uuid: webhook.uuid } };
    // Only what was changed, and of the events too: another person may have changed the rest.
    const merged = async () =>
      mergeLists(webhook.events, events, (await send(api.GET('/api/v1/webhooks/{uuid}', { params }))).events);
    const body = {
      ...(isChanged('url') && { url }),
      ...(isChanged('description') && { description }),
      ...(isChanged('events') && { events: await merged() }),
    };
    await send(api.PATCH('/api/v1/webhooks/{uuid}', { params, body }));
    return null;
  };
  return (
    <FormDialog
      title={t(webhook === null ? 'hooks.create' : 'hooks.change')}
      draft={`webhook ${webhook?.uuid ?? 'new'}`}
      save={save}
      isRepeatable={webhook !== null}
      onSaved={onSecret}
      changes={['webhooks']}
      onClose={onClose}
    >
      <TextField
        label={t('hooks.url')}
        name="url"
        type="url"
        required
        placeholder="https://"
        defaultValue={webhook?.url ?? ''}
      />
      <TextField
        label={t('hooks.description')}
        name="description"
        maxLength={255}
        defaultValue={webhook?.description ?? ''}
      />
      <fieldset className="group settings-events">
        <legend className="field-label">{t('hooks.events')}</legend>
        {EVENTS.map((event) => (
          <Check
            key={event}
            name="events"
            value={event}
            defaultChecked={webhook?.events.includes(event) ?? event === 'call.completed'}
          >
            {t(`event.${event}`)}
          </Check>
        ))}
      </fieldset>
    </FormDialog>
  );
}
