import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import { type Fields, FormDialog } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { useSession, type Role } from '../../session/session.ts';
import { useAction, useAskedAction } from '../../widgets/actions.tsx';
import { SelectField, TextArea, TextField } from '../../widgets/controls.tsx';
import { PagedTable, usePages } from '../../widgets/list.tsx';
import { settingsTexts } from '../texts.ts';
import { Part, SecretDialog, Actions } from './parts.tsx';

type User = Schemas['User'];

const USERS = ['users'] as const;
const path = ({ uuid }: User) => ({ params: { path: { uuid } } });

/** The people of the firm. A user is offered only what the service lets the role do. */
export function Users() {
  const t = settingsTexts.use();
  const { userUuid, role } = useSession();
  const [form, setForm] = useState<'new' | User | null>(null);
  const users = usePages((query) => get([...USERS, query], '/api/v1/users', { query }));
  const remove = useAskedAction(
    ({ name }) => ({ title: t('users.removeTitle', { name }), text: t('users.removeText'), action: t('users.remove') }),
    (user: User) => send(api.DELETE('/api/v1/users/{uuid}', path(user))),
    { says: t('users.removed'), changes: [USERS] },
  );
  const link = useAction(async (user: User) => ({
    user,
    ...(await send(api.POST('/api/v1/users/{uuid}/console-link', path(user)))),
  }));
  // Nobody manages the firm's API user.
  const mayManage = (user: User) => !user.is_api_user && (role === 'SUPERUSER' || ROLES_OF_FIRM.includes(user.role));
  return (
    <Part about={t('users.about')} create={t('users.create')} onCreate={() => setForm('new')}>
      <PagedTable
        label={t('tab.users')}
        className="table-frame"
        pages={users}
        none={null}
        keyOf={(user) => user.uuid}
        columns={({ name, plain, actions }) => [
          name(t('users.name'), (user) => (
            <>
              {user.name} {user.uuid === userUuid && <span className="badge badge-accent">{t('users.you')}</span>}
              {user.is_api_user && <span className="badge">{t('users.api')}</span>}
            </>
          )),
          plain(t('users.role'), ({ role: of, operator_ids: ids }) => (
            <>
              {t(`roleName.${of}`)}{' '}
              {of === 'OPERATOR' && ids.length === 0 && (
                <span className="badge badge-warn">{t('users.noOperatorIds')}</span>
              )}
              {of === 'OPERATOR' && ids.length > 0 && (
                <span className="muted foreign">{t('users.operatorIdsOf', { ids: ids.join(', ') })}</span>
              )}
            </>
          )),
          plain(t('created'), (user) => format.dateTime(user.created_at)),
          actions(
            t('actions'),
            (user) =>
              mayManage(user) && (
                <Actions
                  of={[
                    { name: t('hooks.change'), act: () => setForm(user) },
                    { name: t('users.link'), act: () => link.mutate(user), isPending: link.isPending },
                    user.uuid !== userUuid && { name: t('users.remove'), act: () => remove(user), isDanger: true },
                  ]}
                />
              ),
          ),
        ]}
      />
      {form !== null && <UserForm user={form === 'new' ? null : form} onClose={() => setForm(null)} />}
      {link.data !== undefined && (
        <SecretDialog
          title={t('users.linkOf', { name: link.data.user.name })}
          about={t('users.linkText', { at: format.time(link.data.expires_at) })}
          name={t('users.link')}
          text={link.data.url}
          onClose={link.reset}
        />
      )}
    </Part>
  );
}

/** An ADMIN gives these, a SUPERUSER the others too. */
const ROLES_OF_FIRM: readonly Role[] = ['ADMIN', 'REVIEWER', 'OPERATOR'];
const ROLES: readonly Role[] = [...ROLES_OF_FIRM, 'WORKFLOW_ENGINEER', 'SUPERUSER'];

function UserForm({ user, onClose }: { user: Schemas['User'] | null; onClose: () => void }) {
  const t = settingsTexts.use();
  const { userUuid, role: own } = useSession();
  const isOwn = user?.uuid === userUuid;
  const roles = isOwn ? [own] : own === 'SUPERUSER' ? ROLES : ROLES_OF_FIRM;
  const save = ({ text, lines, isChanged }: Fields) => {
    const name = text('name');
    const role = ROLES.find((each) => each === text('role')) ?? roles[0]!;
    const operator_ids = lines('operator_ids');
    if (user === null) return send(api.POST('/api/v1/users', { body: { name, role, operator_ids } }));
    // Only what was changed: another person may have changed the rest.
    const body = {
      ...(name !== user.name && { name }),
      ...(role !== user.role && { role }),
      ...(isChanged('operator_ids') && { operator_ids }),
    };
    return send(api.PATCH('/api/v1/users/{uuid}', { params: { path: { uuid: user.uuid } }, body }));
  };
  const nameOf = (role: Role) => `${t(`roleName.${role}`)}: ${t(`role.${role}`)}`;
  return (
    <FormDialog
      title={t(user === null ? 'users.create' : 'hooks.change')}
      draft={`user ${user?.uuid ?? 'new'}`}
      save={save}
      isRepeatable={user !== null}
      changes={['users']}
      onClose={onClose}
    >
      <TextField
        label={t('users.name')}
        name="name"
        required
        maxLength={255}
        autoComplete="off"
        defaultValue={user?.name ?? ''}
      />
      {roles.length > 1 ? (
        <div>
          <SelectField
            label={t('users.role')}
            name="role"
            options={roles}
            nameOf={(role) => t(`roleName.${role}`)}
            defaultValue={user?.role ?? 'ADMIN'}
          />
          <ul className="muted settings-roles">
            {roles.map((role) => (
              <li key={role}>{nameOf(role)}</li>
            ))}
          </ul>
        </div>
      ) : (
        <p className="muted">{nameOf(roles[0]!)}</p>
      )}
      <div className="settings-operator">
        <TextArea
          label={t('users.operatorIds')}
          name="operator_ids"
          rows={3}
          defaultValue={user?.operator_ids.join('\n') ?? ''}
        />
        <p className="muted">{t('users.operatorIdsText')}</p>
      </div>
      {user !== null && roles.length > 1 && <p className="muted">{t('users.roleText')}</p>}
    </FormDialog>
  );
}
