import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { saving } from '../../api/query-client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import { leaveForm } from '../../drafts/leave-question.tsx';
import { useFormDraft } from '../../drafts/use-form-draft.ts';
import * as format from '../../i18n/format.ts';
import { type Role, useSession } from '../../session/session.ts';
import { Confirm } from '../../widgets/confirm.tsx';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Fault } from '../../widgets/fault.tsx';
import { Field } from '../../widgets/field.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { Pager } from '../../widgets/pager.tsx';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import { Table } from '../../widgets/table.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import { Secret } from './secret.tsx';
import { settingsTexts } from './texts.ts';

type User = Schemas['User'];

const USERS = ['users'] as const;
const SIZE = 20;
/** An ADMIN gives these, a SUPERUSER the others too. */
const ROLES_OF_FIRM: readonly Role[] = ['ADMIN', 'REVIEWER', 'OPERATOR'];
const ROLES: readonly Role[] = [...ROLES_OF_FIRM, 'WORKFLOW_ENGINEER', 'SUPERUSER'];
const path = (uuid: string) => ({ params: { path: { uuid } } });

/** The people of the firm. A user is offered only what the service lets the role do. */
export function Users() {
  const t = settingsTexts.use();
  const client = useQueryClient();
  const { userUuid, role } = useSession();
  const [page, setPage] = useState(1);
  const [form, setForm] = useState<'new' | User | null>(null);
  const [removed, setRemoved] = useState<User | null>(null);
  const [link, setLink] = useState<{ user: User; url: string; until: string } | null>(null);
  const users = useQuery({
    queryKey: [...USERS, page],
    queryFn: ({ signal }) => send(api.GET('/api/v1/users', { params: { query: { page, size: SIZE } }, signal })),
    placeholderData: keepPreviousData,
  });
  const remove = useMutation({
    mutationFn: async ({ uuid }: User) => {
      await send(api.DELETE('/api/v1/users/{uuid}', path(uuid)));
      done(t('users.removed'));
      await client.invalidateQueries({ queryKey: USERS });
    },
    onError: failed,
  });
  const makeLink = useMutation({
    mutationFn: async (user: User) => {
      const { url, expires_at } = await send(api.POST('/api/v1/users/{uuid}/console-link', path(user.uuid)));
      setLink({ user, url, until: expires_at });
    },
    onError: failed,
  });
  // Nobody manages the firm's API user.
  const mayManage = (user: User) => !user.is_api_user && (role === 'SUPERUSER' || ROLES_OF_FIRM.includes(user.role));
  const { data } = users;
  return (
    <section className="settings-part">
      <div className="settings-row">
        <p className="muted settings-text">{t('users.about')}</p>
        <button type="button" className="button button-primary" onClick={() => setForm('new')}>
          <Icon name="plus" />
          {t('users.create')}
        </button>
      </div>
      <LoadingOrFailed query={users} />
      {data !== undefined && (
        <Table
          label={t('tab.users')}
          items={data.items}
          keyOf={(user) => user.uuid}
          columns={[
            {
              title: t('users.name'),
              kind: 'name',
              className: 'foreign',
              cell: (user) => (
                <>
                  {user.name} {user.uuid === userUuid && <span className="badge badge-accent">{t('users.you')}</span>}
                  {user.is_api_user && <span className="badge">{t('users.api')}</span>}
                </>
              ),
            },
            { title: t('users.role'), cell: (user) => <RoleOf user={user} /> },
            { title: t('created'), cell: (user) => format.dateTime(user.created_at) },
            {
              title: t('actions'),
              kind: 'unlabelled',
              cell: (user) =>
                mayManage(user) && (
                  <div className="settings-actions">
                    <button type="button" className="button button-small" onClick={() => setForm(user)}>
                      {t('users.change')}
                    </button>
                    <button
                      type="button"
                      className="button button-small"
                      disabled={makeLink.isPending}
                      onClick={() => makeLink.mutate(user)}
                    >
                      {t('users.link')}
                    </button>
                    {user.uuid !== userUuid && (
                      <button
                        type="button"
                        className="button button-small button-danger"
                        onClick={() => setRemoved(user)}
                      >
                        {t('users.remove')}
                      </button>
                    )}
                  </div>
                ),
            },
          ]}
        />
      )}
      <Pager
        name={t('tab.users')}
        earlier={t('users.earlier')}
        later={t('users.later')}
        page={page}
        pages={Math.ceil((data?.count ?? 0) / SIZE)}
        onPage={setPage}
      />
      {form !== null && (
        <UserForm
          user={form === 'new' ? null : form}
          onSaved={() => {
            setForm(null);
            void client.invalidateQueries({ queryKey: USERS });
          }}
          onClose={() => setForm(null)}
        />
      )}
      {removed !== null && (
        <Confirm
          title={t('users.removeTitle', { name: removed.name })}
          text={t('users.removeText')}
          action={t('users.remove')}
          onConfirm={() => remove.mutate(removed)}
          onClose={() => setRemoved(null)}
        />
      )}
      {link !== null && (
        <Dialog title={t('users.linkOf', { name: link.user.name })} onClose={() => setLink(null)}>
          <p>{t('users.linkText', { at: format.time(link.until) })}</p>
          <Secret name={t('users.link')} text={link.url} />
          <div className="dialog-actions">
            <button type="button" className="button button-primary" onClick={() => setLink(null)}>
              {t('secret.kept')}
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function RoleOf({ user: { role, operator_ids: ids } }: { user: User }) {
  const t = settingsTexts.use();
  return (
    <>
      {t(`roleName.${role}`)}{' '}
      {role === 'OPERATOR' && ids.length === 0 && <span className="badge badge-warn">{t('users.noOperatorIds')}</span>}
      {role === 'OPERATOR' && ids.length > 0 && (
        <span className="muted foreign">{t('users.operatorIdsOf', { ids: ids.join(', ') })}</span>
      )}
    </>
  );
}

interface FormProps {
  readonly user: User | null;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

function UserForm({ user, onSaved, onClose }: FormProps) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const { userUuid, role: own } = useSession();
  const isOwn = user?.uuid === userUuid;
  const roles = isOwn ? [own] : own === 'SUPERUSER' ? ROLES : ROLES_OF_FIRM;
  const key = `user ${user?.uuid ?? 'new'}`;
  const draft = useFormDraft(key);
  const leave = () => void leaveForm(key, draft.isChanged, onClose);
  const save = useMutation({
    ...saving,
    // One that was created and not answered would be created twice.
    retry: (count, error) => user !== null && saving.retry(count, error),
    mutationFn: ({ name, role, operator_ids }: Pick<User, 'name' | 'role' | 'operator_ids'>) =>
      user === null
        ? send(api.POST('/api/v1/users', { body: { name, role, operator_ids } }))
        : send(
            api.PATCH('/api/v1/users/{uuid}', {
              ...path(user.uuid),
              // Only what was changed: another person may have changed the rest.
              body: {
                ...(name !== user.name && { name }),
                ...(role !== user.role && { role }),
                ...(draft.changed.has('operator_ids') && { operator_ids }),
              },
            }),
          ),
    onSuccess: () => {
      draft.discard();
      onSaved();
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role = ROLES.find((each) => each === form.get('role')) ?? roles[0]!;
    const lines = String(form.get('operator_ids') ?? '').split('\n');
    const ids = lines.map((line) => line.trim()).filter((line) => line !== '');
    save.mutate({ name: String(form.get('name')).trim(), role, operator_ids: [...new Set(ids)] });
  };
  return (
    <Dialog title={t(user === null ? 'users.create' : 'users.change')} onClose={leave}>
      <form className="settings-form" onSubmit={submit} {...draft.form}>
        <Field label={t('users.name')}>
          <input
            className="input"
            name="name"
            required
            maxLength={255}
            autoComplete="off"
            defaultValue={user?.name ?? ''}
          />
        </Field>
        {roles.length > 1 ? (
          <Field label={t('users.role')}>
            <select className="input" name="role" defaultValue={user?.role ?? 'ADMIN'}>
              {roles.map((role) => (
                <option key={role} value={role}>
                  {t(`roleName.${role}`)}: {t(`role.${role}`)}
                </option>
              ))}
            </select>
          </Field>
        ) : (
          <p className="muted">
            {t(`roleName.${roles[0]!}`)}: {t(`role.${roles[0]!}`)}
          </p>
        )}
        <div className="settings-operator">
          <Field label={t('users.operatorIds')}>
            <textarea
              className="input"
              name="operator_ids"
              rows={3}
              defaultValue={user?.operator_ids.join('\n') ?? ''}
            />
          </Field>
          <p className="muted">{t('users.operatorIdsText')}</p>
        </div>
        {user !== null && roles.length > 1 && <p className="muted">{t('users.roleText')}</p>}
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
