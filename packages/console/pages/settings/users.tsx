import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { useAction, useAskedAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { PagedTable, usePages } from '../../widgets/list.tsx';
import { settingsTexts } from '../texts.ts';
import { Part, SecretDialog } from './parts.tsx';
import { ROLES_OF_FIRM, UserForm } from './user-form.tsx';

type User = Schemas['User'];

const USERS = ['users'] as const;
const path = ({ uuid }: User) => ({ params: { path: { uuid } } });

/** The people of the firm. A user is offered only what the service lets the role do. */
export function Users() {
  const t = settingsTexts.use();
  const { userUuid, role } = useSession();
  const [form, setForm] = useState<'new' | User | null>(null);
  const [link, setLink] = useState<{ user: User; url: string; expires_at: string } | null>(null);
  const users = usePages((query) => get([...USERS, query], '/api/v1/users', { query }));
  const remove = useAskedAction(
    ({ name }) => ({ title: t('users.removeTitle', { name }), text: t('users.removeText'), action: t('users.remove') }),
    (user: User) => send(api.DELETE('/api/v1/users/{uuid}', path(user))),
    { says: t('users.removed'), changes: [USERS] },
  );
  const makeLink = useAction(
    async (user: User) => ({ user, ...(await send(api.POST('/api/v1/users/{uuid}/console-link', path(user)))) }),
    { onDone: setLink },
  );
  // Nobody manages the firm's API user.
  const mayManage = (user: User) => !user.is_api_user && (role === 'SUPERUSER' || ROLES_OF_FIRM.includes(user.role));
  return (
    <Part about={t('users.about')} create={t('users.create')} onCreate={() => setForm('new')}>
      <PagedTable
        label={t('tab.users')}
        pages={users}
        none={null}
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
                <div className="row">
                  <Button isSmall onClick={() => setForm(user)}>
                    {t('users.change')}
                  </Button>
                  <Button isSmall disabled={makeLink.isPending} onClick={() => makeLink.mutate(user)}>
                    {t('users.link')}
                  </Button>
                  {user.uuid !== userUuid && (
                    <Button kind="danger" isSmall onClick={() => remove(user)}>
                      {t('users.remove')}
                    </Button>
                  )}
                </div>
              ),
          },
        ]}
      />
      {form !== null && <UserForm user={form === 'new' ? null : form} onClose={() => setForm(null)} />}
      {link !== null && (
        <SecretDialog
          title={t('users.linkOf', { name: link.user.name })}
          about={t('users.linkText', { at: format.time(link.expires_at) })}
          name={t('users.link')}
          text={link.url}
          onClose={() => setLink(null)}
        />
      )}
    </Part>
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
