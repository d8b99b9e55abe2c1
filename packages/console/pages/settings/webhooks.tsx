import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import { type Fields, FormDialog } from '../../drafts/form.tsx';
import { mergeLists } from '../../drafts/merge-lists.ts';
import { useAction, useAskedAction } from '../../widgets/actions.tsx';
import { Check, TextField } from '../../widgets/controls.tsx';
import { LoadingOrFailed, State } from '../../widgets/page.tsx';
import { settingsTexts } from '../texts.ts';
import { Deliveries, Replay } from './deliveries.tsx';
import { Item, Part, SecretDialog, Actions } from './parts.tsx';

const route = getRouteApi('/settings');

type Webhook = Schemas['Webhook'];

const WEBHOOKS = ['webhooks'] as const;
const path = ({ uuid }: Webhook) => ({ params: { path: { uuid } } });

/** Where the service sends events to, and what became of each. */
export function Webhooks() {
  const t = settingsTexts.use();
  const { webhook: open } = route.useSearch();
  const [form, setForm] = useState<'new' | Webhook | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [replayed, setReplayed] = useState<string | null>(null);
  const webhooks = useQuery(get(WEBHOOKS, '/api/v1/webhooks', { query: { size: 100 } }));
  const changes = [WEBHOOKS, ['deliveries']];
  const toggle = useAction(
    (webhook: Webhook) =>
      send(api.PATCH('/api/v1/webhooks/{uuid}', { ...path(webhook), body: { enabled: !webhook.enabled } })),
    { changes },
  );
  const test = useAction((webhook: Webhook) => send(api.POST('/api/v1/webhooks/{uuid}/test', path(webhook))), {
    changes,
    says: t('hooks.tested'),
  });
  const question = (action: 'delete' | 'rotate') => () => ({
    title: t(`hooks.${action}Title`),
    text: t(`hooks.${action}Text`),
    action: t(`hooks.${action}`),
  });
  const remove = useAskedAction(
    question('delete'),
    (webhook: Webhook) => send(api.DELETE('/api/v1/webhooks/{uuid}', path(webhook))),
    { changes, says: t('hooks.deleted') },
  );
  const rotate = useAskedAction(
    question('rotate'),
    (webhook: Webhook) => send(api.POST('/api/v1/webhooks/{uuid}/rotate-secret', path(webhook))),
    { changes, onDone: (rotated) => setSecret(rotated.secret) },
  );
  return (
    <Part about={t('hooks.about')} create={t('hooks.create')} onCreate={() => setForm('new')}>
      <LoadingOrFailed query={webhooks} />
      {webhooks.data?.count === 0 && <State title={t('hooks.none')} text={t('hooks.noneText')} />}
      {webhooks.data?.items.map((webhook) => (
        <Item
          key={webhook.uuid}
          name={webhook.url}
          isEnabled={webhook.enabled}
          facts={webhook.events.map((event) => t(`event.${event}`))}
          notes={
            <>
              {webhook.description !== null && <p className="foreign">{webhook.description}</p>}
              {webhook.disabled_reason !== null && (
                <p className="fault foreign">{settingsTexts.inWords('hooks.off.', webhook.disabled_reason)}</p>
              )}
            </>
          }
        >
          <Actions
            of={[
              { name: t('hooks.test'), act: () => test.mutate(webhook) },
              { name: t(webhook.enabled ? 'hooks.disable' : 'hooks.enable'), act: () => toggle.mutate(webhook) },
              { name: t('hooks.change'), act: () => setForm(webhook) },
              { name: t('replay'), act: () => setReplayed(webhook.uuid) },
              { name: t('hooks.rotate'), act: () => rotate(webhook) },
              { name: t('hooks.delete'), act: () => remove(webhook), isDanger: true },
            ]}
          >
            <Link
              to="/settings"
              search={open === webhook.uuid ? { tab: 'webhooks' } : { tab: 'webhooks', webhook: webhook.uuid }}
              aria-expanded={open === webhook.uuid}
              role="button"
              className="button button-small"
            >
              {t('hooks.deliveries')}
            </Link>
          </Actions>
          {open === webhook.uuid && <Deliveries uuid={webhook.uuid} />}
        </Item>
      ))}
      {form !== null && (
        <WebhookForm webhook={form === 'new' ? null : form} onSecret={setSecret} onClose={() => setForm(null)} />
      )}
      {secret !== null && (
        <SecretDialog
          title={t('hooks.secret')}
          name={t('hooks.secret')}
          text={secret}
          onClose={() => setSecret(null)}
        />
      )}
      {replayed !== null && <Replay uuid={replayed} onClose={() => setReplayed(null)} />}
    </Part>
  );
}

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

function WebhookForm({ webhook, onSecret, onClose }: Props) {
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
