import {
  ConsoleLink,
  MAX_OPERATOR_ID_CHARS,
  MAX_OPERATOR_IDS,
  User,
  UserPage,
} from '@call-analysis/api/access/firms-and-users';
import { name, PageQuery } from '@call-analysis/api/fields';
import { notFound } from '@call-analysis/fault';
import type { keyManagement } from '@call-analysis/proto';
import type { User as UserMessage } from '@call-analysis/proto/key_management/v1/User';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { Role } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import { managerOf } from './manager.ts';

const PATH = '/api/v1/users';
const tag = 'Firm and users';
const access = { credentials: 'bearer', roles: ['ADMIN', 'SUPERUSER'] } as const;

const ROLES_OF_MANAGERS =
  'An ADMIN manages users with the roles ADMIN, REVIEWER and OPERATOR; a SUPERUSER or WORKFLOW_ENGINEER, who acts on other firms too, is managed by a SUPERUSER.';

const operatorIds = z
  .array(name(MAX_OPERATOR_ID_CHARS))
  .max(MAX_OPERATOR_IDS, `must have at most ${MAX_OPERATOR_IDS} ids`)
  .refine((ids) => new Set(ids).size === ids.length, 'must not name an id twice')
  .optional()
  .meta({
    description:
      'All of them. As an OPERATOR, the user sees the calls whose `operator_id` is one of these, letter by letter.',
  });

const NewUser = z.strictObject({ name: name(255), role: Role, operator_ids: operatorIds }).meta({
  id: 'CreateUserRequest',
  examples: [
    { name: 'Aziza Karimova', role: 'ADMIN' },
    { name: 'Bakyt Asanov', role: 'OPERATOR', operator_ids: ['17'] },
  ],
});

const Change = z
  .strictObject({ name: name(255).optional(), role: Role.optional(), operator_ids: operatorIds })
  .meta({ id: 'ChangeUserRequest', examples: [{ name: 'Aziza Yusupova' }, { operator_ids: ['17', '0017'] }] });

type Keys = Pick<
  Client<typeof keyManagement>,
  'listUsers' | 'findUser' | 'createUser' | 'changeUser' | 'removeUser' | 'createSignInCode'
>;

/** docs/api.md, "Firm and users". */
export function users(keys: Keys, absolute: PublicUrl): Endpoint[] {
  return [
    endpoint({
      ...access,
      method: 'GET',
      path: PATH,
      query: PageQuery,
      tag,
      id: 'listUsers',
      summary: "List the firm's users",
      description: 'Oldest first, with the API user of the firm. Removed users are not listed.',
      responses: { 200: { description: 'A page of users.', schema: UserPage } },
      async handle({ caller, query }) {
        const { count, users: found } = await keys.listUsers({ firm_uuid: caller.firmUuid, ...query });
        return { status: 200, body: { count, items: found.map(userJson) } };
      },
    }),
    endpoint({
      ...access,
      method: 'POST',
      path: PATH,
      body: NewUser,
      tag,
      id: 'createUser',
      summary: 'Create a user',
      description: ROLES_OF_MANAGERS,
      responses: { 201: { description: 'The user.', schema: User } },
      async handle({ caller, body, address }) {
        const actor = managerOf(caller, address);
        return { status: 201, body: userJson(await keys.createUser({ actor, firm_uuid: caller.firmUuid, ...body })) };
      },
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid`,
      tag,
      id: 'getUser',
      summary: 'Get a user',
      responses: { 200: { description: 'The user.', schema: User } },
      async handle({ caller, params }) {
        const { user: found } = await keys.findUser({ user_uuid: params.uuid, firm_uuid: caller.firmUuid });
        if (found === undefined || found === null) throw notFound('user');
        return { status: 200, body: userJson(found) };
      },
    }),
    endpoint({
      ...access,
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: Change,
      tag,
      id: 'changeUser',
      summary: 'Change a user',
      description: `A changed role ends the user's sessions, and tokens that were issued before are refused within 5 seconds. Changed operator ids count within 5 seconds too. ${ROLES_OF_MANAGERS}`,
      responses: { 200: { description: 'The user.', schema: User } },
      errors: ['OWN_ACCOUNT', 'LAST_ADMIN', 'API_USER'],
      async handle({ caller, params, body: { operator_ids: ids, ...body }, address }) {
        const user_uuid = params.uuid;
        const change = { ...body, ...(ids !== undefined && { operator_ids: { ids } }) };
        const changed = await keys.changeUser({ actor: managerOf(caller, address), user_uuid, ...change });
        return { status: 200, body: userJson(changed) };
      },
    }),
    endpoint({
      ...access,
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      tag,
      id: 'removeUser',
      summary: 'Remove a user',
      description: `The user's sessions end, and the user's tokens are refused within 5 seconds. ${ROLES_OF_MANAGERS}`,
      responses: { 204: { description: 'The user is removed.' } },
      errors: ['OWN_ACCOUNT', 'LAST_ADMIN', 'API_USER'],
      async handle({ caller, params, address }) {
        const user_uuid = params.uuid;
        await keys.removeUser({ actor: managerOf(caller, address), user_uuid });
        return { status: 204 };
      },
    }),
    endpoint({
      ...access,
      method: 'POST',
      path: `${PATH}/:uuid/console-link`,
      tag,
      id: 'createConsoleLink',
      summary: 'Create a link that signs a user in',
      description: `The link works once, within 10 minutes. Anyone who has it can act as the user. ${ROLES_OF_MANAGERS}`,
      responses: { 201: { description: 'The link.', schema: ConsoleLink } },
      errors: ['API_USER'],
      async handle({ caller, params, request, address }) {
        const user_uuid = params.uuid;
        const { code, expires_at } = await keys.createSignInCode({ actor: managerOf(caller, address), user_uuid });
        return { status: 201, body: { url: absolute(request, `/console/#code=${code}`), expires_at } };
      },
    }),
  ];
}

function userJson({ uuid, name: called, role, web_api_only, operator_ids, created_at }: UserMessage) {
  return { uuid, name: called, role, operator_ids, is_api_user: web_api_only, created_at };
}
