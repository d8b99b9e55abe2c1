import { api, type Schemas, send } from '../../api/client.ts';
import { type Fields, FormDialog } from '../../drafts/form.tsx';
import { type Role, useSession } from '../../session/session.ts';
import { SelectField, TextArea, TextField } from '../../widgets/controls.tsx';
import { settingsTexts } from '../texts.ts';

/** An ADMIN gives these, a SUPERUSER the others too. */
export const ROLES_OF_FIRM: readonly Role[] = ['ADMIN', 'REVIEWER', 'OPERATOR'];
const ROLES: readonly Role[] = [...ROLES_OF_FIRM, 'WORKFLOW_ENGINEER', 'SUPERUSER'];

export function UserForm({ user, onClose }: { user: Schemas['User'] | null; onClose: () => void }) {
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
      title={t(user === null ? 'users.create' : 'users.change')}
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
