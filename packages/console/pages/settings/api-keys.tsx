import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import { FormDialog } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { useAskedAction } from '../../widgets/actions.tsx';
import { Button, SelectField, TextField } from '../../widgets/controls.tsx';
import { PagedTable, usePages } from '../../widgets/list.tsx';
import { State } from '../../widgets/page.tsx';
import { settingsTexts } from '../texts.ts';
import { Part, SecretDialog } from './parts.tsx';

type Key = Schemas['ApiKey'];

const HOUR = 3600;
/** How many seconds a replaced key keeps working. */
const GRACES = [0, 300, HOUR, 86_400] as const;
const KEYS = ['api-keys'] as const;
const path = ({ uuid }: Key) => ({ params: { path: { api_key_uuid: uuid } } });

/** API keys: created by engineers, and listed, rotated and deleted by superusers. */
export function ApiKeys() {
  const t = settingsTexts.use();
  const { role, token } = useSession();
  /** What is made: a key, or one in place of another. */
  const [form, setForm] = useState<'new' | Key | null>(null);
  const [created, setCreated] = useState<string | null>(null);
  const dialog = {
    isRepeatable: false,
    changes: KEYS,
    onSaved: ({ api_key }: { api_key: string }) => setCreated(api_key),
    onClose: () => setForm(null),
  };
  return (
    <Part about={t('keys.about')} create={t('keys.create')} onCreate={() => setForm('new')}>
      {role === 'SUPERUSER' && <KeyList onRotate={setForm} />}
      {form === 'new' && (
        <FormDialog
          {...dialog}
          title={t('keys.create')}
          action={t('keys.create')}
          draft="api-key new"
          save={({ text }) => send(api.POST('/external/api/v1/api-key', { body: { firm_uuid: text('firm') } }))}
        >
          <TextField label={t('keys.firmUuid')} name="firm" required defaultValue={firmOf(token)} autoComplete="off" />
        </FormDialog>
      )}
      {form !== null && form !== 'new' && (
        <FormDialog
          {...dialog}
          title={t('keys.rotateTitle', { firm: form.firm.name })}
          about={<p>{t('keys.rotateText')}</p>}
          action={t('keys.rotate')}
          draft={`api-key ${form.uuid}`}
          save={({ text }) => {
            const body = { grace_seconds: Number(text('grace')) };
            return send(api.POST('/external/api/v1/api-key/{api_key_uuid}/rotate', { ...path(form), body }));
          }}
        >
          <SelectField
            label={t('keys.grace')}
            name="grace"
            options={GRACES}
            nameOf={(seconds) => t(`keys.grace.${seconds}`)}
            defaultValue={HOUR}
          />
        </FormDialog>
      )}
      {created !== null && (
        <SecretDialog
          title={t('keys.created')}
          about={t('keys.quoting')}
          name={t('keys.key')}
          text={created}
          onClose={() => setCreated(null)}
        />
      )}
    </Part>
  );
}

function KeyList({ onRotate }: { onRotate: (key: Key) => void }) {
  const t = settingsTexts.use();
  const keys = usePages((query) => get([...KEYS, query], '/external/api/v1/api-key', { query }));
  const remove = useAskedAction(
    ({ firm }) => ({
      title: t('keys.deleteTitle', { firm: firm.name }),
      text: t('keys.deleteText'),
      action: t('keys.delete'),
    }),
    (key: Key) => send(api.DELETE('/external/api/v1/api-key/{api_key_uuid}', path(key))),
    { says: t('keys.deleted'), changes: [KEYS] },
  );
  return (
    <PagedTable
      label={t('tab.keys')}
      pages={keys}
      none={<State title={t('keys.none')} text={t('keys.noneText')} />}
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
            <div className="row">
              <Button isSmall onClick={() => onRotate(key)}>
                {t('keys.rotate')}
              </Button>
              <Button kind="danger" isSmall onClick={() => remove(key)}>
                {t('keys.delete')}
              </Button>
            </div>
          ),
        },
      ]}
    />
  );
}

/** The firm that the user's token names. */
function firmOf(token: string): string {
  const payload = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
  return (JSON.parse(atob(payload)) as { firm: string }).firm;
}
