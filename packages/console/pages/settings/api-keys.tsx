import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import { FormDialog } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { useAskedAction } from '../../widgets/actions.tsx';
import { SelectField, TextField } from '../../widgets/controls.tsx';
import { PagedTable, usePages } from '../../widgets/list.tsx';
import { State } from '../../widgets/page.tsx';
import { settingsTexts } from '../texts.ts';
import { Part, SecretDialog, Actions } from './parts.tsx';

type Key = Schemas['ApiKey'];

const HOUR = 3600;
/** How many seconds a replaced key keeps working. */
const GRACES = [0, 300, HOUR, 86_400] as const;
const KEYS = ['api-keys'] as const;
const path = ({ uuid }: Key) => ({ params: { path: { api_key_uuid: uuid } } });

/** API keys: created by engineers, and listed, rotated and deleted by superusers. */
export function ApiKeys() {
  const t = settingsTexts.use();
  const { role, firmUuid } = useSession();
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
          <TextField label={t('keys.firmUuid')} name="firm" required defaultValue={firmUuid} autoComplete="off" />
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
      action: t('hooks.delete'),
    }),
    (key: Key) => send(api.DELETE('/external/api/v1/api-key/{api_key_uuid}', path(key))),
    { says: t('keys.deleted'), changes: [KEYS] },
  );
  return (
    <PagedTable
      label={t('tab.keys')}
      className="table-frame"
      pages={keys}
      none={<State title={t('keys.none')} text={t('keys.noneText')} />}
      keyOf={(key) => key.uuid}
      columns={({ name, plain, actions }) => [
        name(t('keys.firm'), ({ firm }) => firm.name),
        plain(t('keys.prefix'), ({ key_prefix }) => <code>{key_prefix}</code>),
        plain(t('created'), ({ created_at }) => format.dateTime(created_at)),
        plain(t('keys.lastUsed'), ({ last_used }) => (last_used === null ? t('never') : format.dateTime(last_used))),
        actions(t('actions'), (key) => (
          <Actions
            of={[
              { name: t('keys.rotate'), act: () => onRotate(key) },
              { name: t('hooks.delete'), act: () => remove(key), isDanger: true },
            ]}
          />
        )),
      ]}
    />
  );
}
