import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { Confirm } from '../../widgets/confirm.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Fault } from '../../widgets/fault.tsx';
import { Field } from '../../widgets/field.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { Pager } from '../../widgets/pager.tsx';
import { LoadingOrFailed, State } from '../../widgets/states.tsx';
import { Table } from '../../widgets/table.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import { Secret } from './secret.tsx';
import { settingsTexts } from './texts.ts';

const SIZE = 20;
const HOUR = 3600;
/** How many seconds a replaced key keeps working. */
const GRACES = [0, 300, HOUR, 86_400] as const;
const KEYS = ['api-keys'] as const;

/** API keys: created by engineers, and listed, rotated and deleted by superusers. */
export function ApiKeys() {
  const t = settingsTexts.use();
  const { role } = useSession();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<string | null>(null);
  return (
    <section className="settings-part">
      <div className="settings-row">
        <p className="muted settings-text">{t('keys.about')}</p>
        <button type="button" className="button button-primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          {t('keys.create')}
        </button>
      </div>
      {role === 'SUPERUSER' && <KeyList onKey={setCreated} />}
      {isCreating && (
        <CreateKey
          onKey={(key) => {
            setCreating(false);
            setCreated(key);
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created !== null && (
        <Dialog title={t('keys.created')} onClose={() => setCreated(null)}>
          <Secret name={t('keys.key')} text={created} />
          <p className="muted">{t('keys.quoting')}</p>
          <div className="dialog-actions">
            <button type="button" className="button button-primary" onClick={() => setCreated(null)}>
              {t('secret.kept')}
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function KeyList({ onKey }: { onKey: (key: string) => void }) {
  const t = settingsTexts.use();
  const client = useQueryClient();
  const [page, setPage] = useState(1);
  const [asked, setAsked] = useState<{ action: 'delete' | 'rotate'; key: Schemas['ApiKey'] } | null>(null);
  const [grace, setGrace] = useState<number>(HOUR);
  const keys = useQuery({
    queryKey: [...KEYS, page],
    queryFn: ({ signal }) =>
      send(api.GET('/external/api/v1/api-key', { params: { query: { page, size: SIZE } }, signal })),
    placeholderData: keepPreviousData,
  });
  const change = useMutation({
    mutationFn: async ({ action, uuid, grace }: { action: 'delete' | 'rotate'; uuid: string; grace: number }) => {
      const params = { path: { api_key_uuid: uuid } };
      if (action === 'delete') {
        await send(api.DELETE('/external/api/v1/api-key/{api_key_uuid}', { params }));
        done(t('keys.deleted'));
      } else {
        const body = { grace_seconds: grace };
        const { api_key } = await send(api.POST('/external/api/v1/api-key/{api_key_uuid}/rotate', { params, body }));
        onKey(api_key);
      }
      await client.invalidateQueries({ queryKey: KEYS });
    },
    onError: failed,
  });
  if (keys.data === undefined) return <LoadingOrFailed query={keys} />;
  if (keys.data.count === 0) return <State title={t('keys.none')} text={t('keys.noneText')} />;
  return (
    <>
      <Table
        label={t('tab.keys')}
        items={keys.data.items}
        keyOf={(key) => key.uuid}
        columns={[
          { title: t('keys.firm'), kind: 'name', className: 'foreign', cell: (key) => key.firm.name },
          { title: t('keys.prefix'), cell: (key) => <code>{key.key_prefix}</code> },
          { title: t('created'), cell: (key) => format.dateTime(key.created_at) },
          {
            title: t('keys.lastUsed'),
            cell: (key) => (key.last_used === null ? t('never') : format.dateTime(key.last_used)),
          },
          {
            title: t('actions'),
            kind: 'unlabelled',
            cell: (key) => (
              <div className="settings-actions">
                {(['rotate', 'delete'] as const).map((action) => (
                  <button
                    key={action}
                    type="button"
                    className={action === 'delete' ? 'button button-small button-danger' : 'button button-small'}
                    onClick={() => setAsked({ action, key })}
                  >
                    {t(`keys.${action}`)}
                  </button>
                ))}
              </div>
            ),
          },
        ]}
      />
      <Pager
        name={t('tab.keys')}
        earlier={t('newer')}
        later={t('older')}
        page={page}
        pages={Math.ceil(keys.data.count / SIZE)}
        onPage={setPage}
      />
      {asked !== null && (
        <Confirm
          title={t(`keys.${asked.action}Title`, { firm: asked.key.firm.name })}
          text={t(`keys.${asked.action}Text`)}
          action={t(`keys.${asked.action}`)}
          onConfirm={() => change.mutate({ action: asked.action, uuid: asked.key.uuid, grace })}
          onClose={() => setAsked(null)}
        >
          {asked.action === 'rotate' && (
            <Field label={t('keys.grace')}>
              <select className="input" value={grace} onChange={({ target }) => setGrace(Number(target.value))}>
                {GRACES.map((seconds) => (
                  <option key={seconds} value={seconds}>
                    {t(`keys.grace.${seconds}`)}
                  </option>
                ))}
              </select>
            </Field>
          )}
        </Confirm>
      )}
    </>
  );
}

function CreateKey({ onKey, onClose }: { onKey: (key: string) => void; onClose: () => void }) {
  const t = settingsTexts.use();
  const { token } = useSession();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: (firm_uuid: string) => send(api.POST('/external/api/v1/api-key', { body: { firm_uuid } })),
    onSuccess: ({ api_key }) => {
      onKey(api_key);
      void client.invalidateQueries({ queryKey: KEYS });
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(String(new FormData(event.currentTarget).get('firm')).trim());
  };
  return (
    <Dialog title={t('keys.create')} onClose={onClose}>
      <form className="settings-form" onSubmit={submit}>
        <Field label={t('keys.firmUuid')}>
          <input className="input" name="firm" required defaultValue={firmOf(token)} autoComplete="off" />
        </Field>
        {create.isError && <Fault error={create.error} />}
        <DialogActions onClose={onClose}>
          <button type="submit" className="button button-primary" disabled={create.isPending}>
            {t('keys.create')}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** The firm that the user's token names. */
function firmOf(token: string): string {
  const payload = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
  return (JSON.parse(atob(payload)) as { firm: string }).firm;
}
