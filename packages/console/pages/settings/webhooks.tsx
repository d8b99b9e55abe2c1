import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import { useAction, useAskedAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { LoadingOrFailed, State } from '../../widgets/page.tsx';
import { settingsTexts } from '../texts.ts';
import { Deliveries } from './deliveries.tsx';
import { Item, Part, SecretDialog } from './parts.tsx';
import { Replay } from './replay.tsx';
import { WebhookForm } from './webhook-form.tsx';

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
              {webhook.disabled_reason !== null && <p className="fault foreign">{reasonOf(webhook.disabled_reason)}</p>}
            </>
          }
          actions={
            <>
              <Button isSmall onClick={() => test.mutate(webhook)}>
                {t('hooks.test')}
              </Button>
              <Button isSmall onClick={() => toggle.mutate(webhook)}>
                {t(webhook.enabled ? 'hooks.disable' : 'hooks.enable')}
              </Button>
              <Button isSmall onClick={() => setForm(webhook)}>
                {t('hooks.change')}
              </Button>
              <Button isSmall onClick={() => setReplayed(webhook.uuid)}>
                {t('replay')}
              </Button>
              <Button isSmall onClick={() => rotate(webhook)}>
                {t('hooks.rotate')}
              </Button>
              <Button kind="danger" isSmall onClick={() => remove(webhook)}>
                {t('hooks.delete')}
              </Button>
              <Link
                to="/settings"
                search={open === webhook.uuid ? { tab: 'webhooks' } : { tab: 'webhooks', webhook: webhook.uuid }}
                aria-expanded={open === webhook.uuid}
                role="button"
                className="button button-small"
              >
                {t('hooks.deliveries')}
              </Link>
            </>
          }
        >
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

/** Why the service no longer sends to a webhook. */
function reasonOf(reason: string): string {
  const name = `hooks.off.${reason}`;
  return settingsTexts.has(name) ? settingsTexts.translate(name) : reason;
}
