import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { Confirm } from '../../widgets/confirm.tsx';
import { Dialog } from '../../widgets/dialog.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { LoadingOrFailed, State } from '../../widgets/states.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import { Deliveries } from './deliveries.tsx';
import { Replay } from './replay.tsx';
import { Secret } from './secret.tsx';
import { settingsTexts } from './texts.ts';
import { WebhookForm } from './webhook-form.tsx';

const route = getRouteApi('/settings');

type Webhook = Schemas['Webhook'];
type Asked = { readonly action: 'delete' | 'rotate'; readonly webhook: Webhook };

const WEBHOOKS = ['webhooks'] as const;
const path = (uuid: string) => ({ params: { path: { uuid } } });

/** Where the service sends events to, and what became of each. */
export function Webhooks() {
  const t = settingsTexts.use();
  const client = useQueryClient();
  const { webhook: open } = route.useSearch();
  const [form, setForm] = useState<'new' | Webhook | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [replayed, setReplayed] = useState<string | null>(null);
  const webhooks = useQuery({
    queryKey: WEBHOOKS,
    queryFn: ({ signal }) => send(api.GET('/api/v1/webhooks', { params: { query: { size: 100 } }, signal })),
  });
  const act = useMutation({
    mutationFn: async (action: () => Promise<string | null>) => {
      const said = await action();
      await client.invalidateQueries({ queryKey: WEBHOOKS });
      if (said !== null) done(said);
    },
    onError: failed,
  });
  const actions: Readonly<Record<Asked['action'], (webhook: Webhook) => Promise<string | null>>> = {
    delete: async ({ uuid }) => {
      await send(api.DELETE('/api/v1/webhooks/{uuid}', path(uuid)));
      return t('hooks.deleted');
    },
    rotate: async ({ uuid }) => {
      setSecret((await send(api.POST('/api/v1/webhooks/{uuid}/rotate-secret', path(uuid)))).secret);
      return null;
    },
  };
  const toggle = (webhook: Webhook) => async () => {
    await send(api.PATCH('/api/v1/webhooks/{uuid}', { ...path(webhook.uuid), body: { enabled: !webhook.enabled } }));
    return null;
  };
  const test = (webhook: Webhook) => async () => {
    await send(api.POST('/api/v1/webhooks/{uuid}/test', path(webhook.uuid)));
    await client.invalidateQueries({ queryKey: ['deliveries', webhook.uuid] });
    return t('hooks.tested');
  };

  const { data } = webhooks;
  return (
    <section className="settings-part">
      <div className="settings-row">
        <p className="muted settings-text">{t('hooks.about')}</p>
        <button type="button" className="button button-primary" onClick={() => setForm('new')}>
          <Icon name="plus" />
          {t('hooks.create')}
        </button>
      </div>
      <LoadingOrFailed query={webhooks} />
      {data?.count === 0 && <State title={t('hooks.none')} text={t('hooks.noneText')} />}
      {data?.items.map((webhook) => (
        <article key={webhook.uuid} className="card card-body settings-part" aria-label={webhook.url}>
          <div className="settings-row">
            <h2 className="foreign settings-text">{webhook.url}</h2>
            <span className={webhook.enabled ? 'badge badge-good' : 'badge badge-warn'}>
              {t(webhook.enabled ? 'hooks.on' : 'hooks.off')}
            </span>
          </div>
          {webhook.description !== null && <p className="foreign">{webhook.description}</p>}
          {webhook.disabled_reason !== null && <p className="fault foreign">{reasonOf(webhook.disabled_reason)}</p>}
          <p className="settings-row">
            {webhook.events.map((event) => (
              <span key={event} className="badge">
                {t(`event.${event}`)}
              </span>
            ))}
          </p>
          <div className="settings-row">
            <button type="button" className="button button-small" onClick={() => act.mutate(test(webhook))}>
              {t('hooks.test')}
            </button>
            <button type="button" className="button button-small" onClick={() => act.mutate(toggle(webhook))}>
              {t(webhook.enabled ? 'hooks.disable' : 'hooks.enable')}
            </button>
            <button type="button" className="button button-small" onClick={() => setForm(webhook)}>
              {t('hooks.change')}
            </button>
            <button type="button" className="button button-small" onClick={() => setReplayed(webhook.uuid)}>
              {t('replay')}
            </button>
            <button
              type="button"
              className="button button-small"
              onClick={() => setAsked({ action: 'rotate', webhook })}
            >
              {t('hooks.rotate')}
            </button>
            <button
              type="button"
              className="button button-small button-danger"
              onClick={() => setAsked({ action: 'delete', webhook })}
            >
              {t('hooks.delete')}
            </button>
            <Link
              to="/settings"
              search={open === webhook.uuid ? { tab: 'webhooks' } : { tab: 'webhooks', webhook: webhook.uuid }}
              aria-expanded={open === webhook.uuid}
              role="button"
            >
              {t('hooks.deliveries')}
            </Link>
          </div>
          {open === webhook.uuid && <Deliveries uuid={webhook.uuid} />}
        </article>
      ))}
      {form !== null && (
        <WebhookForm
          webhook={form === 'new' ? null : form}
          onSaved={(created) => {
            setForm(null);
            setSecret(created);
            void client.invalidateQueries({ queryKey: WEBHOOKS });
          }}
          onClose={() => setForm(null)}
        />
      )}
      {secret !== null && (
        <Dialog title={t('hooks.secret')} onClose={() => setSecret(null)}>
          <Secret name={t('hooks.secret')} text={secret} />
          <div className="dialog-actions">
            <button type="button" className="button button-primary" onClick={() => setSecret(null)}>
              {t('secret.kept')}
            </button>
          </div>
        </Dialog>
      )}
      {replayed !== null && <Replay uuid={replayed} onClose={() => setReplayed(null)} />}
      {asked !== null && (
        <Confirm
          title={t(`hooks.${asked.action}Title`)}
          text={t(`hooks.${asked.action}Text`)}
          action={t(`hooks.${asked.action}`)}
          onConfirm={() => act.mutate(() => actions[asked.action](asked.webhook))}
          onClose={() => setAsked(null)}
        />
      )}
    </section>
  );
}

/** Why the service no longer sends to a webhook. */
function reasonOf(reason: string): string {
  const name = `hooks.off.${reason}`;
  return settingsTexts.has(name) ? settingsTexts.translate(name) : reason;
}
