import { useMutation } from '@tanstack/react-query';
import type { SyntheticEvent } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { saving } from '../../api/query-client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import { leaveForm } from '../../drafts/leave-question.tsx';
import { mergeLists } from '../../drafts/merge-lists.ts';
import { useFormDraft } from '../../drafts/use-form-draft.ts';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Fault } from '../../widgets/fault.tsx';
import { Field } from '../../widgets/field.tsx';
import { settingsTexts } from './texts.ts';

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
  /** The secret of a new webhook, else null. */
  readonly onSaved: (secret: string | null) => void;
  readonly onClose: () => void;
}

export function WebhookForm({ webhook, onSaved, onClose }: Props) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const key = `webhook ${webhook?.uuid ?? 'new'}`;
  const draft = useFormDraft(key);
  const leave = () => void leaveForm(key, draft.isChanged, onClose);
  const save = useMutation({
    ...saving,
    // One that was created and not answered would be created twice.
    retry: (count, error) => webhook !== null && saving.retry(count, error),
    mutationFn: async (body: { url: string; events: Event[]; description: string | null }) => {
      if (webhook === null) return (await send(api.POST('/api/v1/webhooks', { body }))).secret;
      const params = { path: { uuid: webhook.uuid } };
      // Only what was changed, and of the events too: another person may have changed the rest.
      const names = (Object.keys(body) as (keyof typeof body)[]).filter((name) => draft.changed.has(name));
      const changed: Partial<typeof body> = Object.fromEntries(names.map((name) => [name, body[name]]));
      if (changed.events !== undefined) {
        const { events } = await send(api.GET('/api/v1/webhooks/{uuid}', { params }));
        changed.events = mergeLists(webhook.events, changed.events, events);
      }
      await send(api.PATCH('/api/v1/webhooks/{uuid}', { params, body: changed }));
      return null;
    },
    onSuccess: (secret) => {
      draft.discard();
      onSaved(secret);
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const description = String(form.get('description')).trim();
    save.mutate({
      url: String(form.get('url')).trim(),
      events: EVENTS.filter((each) => form.getAll('events').includes(each)),
      description: description === '' ? null : description,
    });
  };
  return (
    <Dialog title={t(webhook === null ? 'hooks.create' : 'hooks.change')} onClose={leave}>
      <form className="settings-form" onSubmit={submit} {...draft.form}>
        <Field label={t('hooks.url')}>
          <input
            className="input"
            name="url"
            type="url"
            required
            placeholder="https://"
            defaultValue={webhook?.url ?? ''}
          />
        </Field>
        <Field label={t('hooks.description')}>
          <input className="input" name="description" maxLength={255} defaultValue={webhook?.description ?? ''} />
        </Field>
        <fieldset className="settings-events">
          <legend className="field-label">{t('hooks.events')}</legend>
          {EVENTS.map((event) => (
            <label key={event} className="check">
              <input
                type="checkbox"
                name="events"
                value={event}
                defaultChecked={webhook?.events.includes(event) ?? event === 'call.completed'}
              />
              {t(`event.${event}`)}
            </label>
          ))}
        </fieldset>
        {save.isError && <Fault error={save.error} />}
        <DialogActions onClose={leave}>
          <button type="submit" className="button button-primary" disabled={save.isPending}>
            {shell('save')}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
