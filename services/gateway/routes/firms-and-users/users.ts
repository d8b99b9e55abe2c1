import { ConsoleLink, MAX_OPERATOR_ID_CHARS, MAX_OPERATOR_IDS, User, UserPage } from '@call-analysis/api/access';
import { PeoplePage } from '@call-analysis/api/desk';
import { name, PageQuery } from '@call-analysis/api/fields';
import { type FieldFault, invalidFields, notFound } from '@call-analysis/fault';
import type { User as UserMessage } from '@call-analysis/proto/key_management/v1/User';
import { z } from 'zod';
import { type Caller, EVERY_ROLE, Role } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import type { PublicUrl } from '../../http/request/public-url.ts';
import { managerOf, servedBy, type Services } from '../rpc-caller.ts';

const PATH = '/api/v1/users';

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

/** docs/api.md, "Firm and users". */
export function users({ keyManagement: keys }: Services, absolute: PublicUrl): Endpoint[] {
  const endpoint = servedBy(keys, { tag: 'Firm and users', roles: ['ADMIN', 'SUPERUSER'] });
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      query: PageQuery,
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
      method: 'POST',
      path: PATH,
      body: NewUser,
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
      method: 'GET',
      path: `${PATH}/:uuid`,
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
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: Change,
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
      method: 'DELETE',
      path: `${PATH}/:uuid`,
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
      method: 'POST',
      path: `${PATH}/:uuid/console-link`,
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

function personJson({ uuid, name: called, role, web_api_only }: UserMessage) {
  return { uuid, name: called, role, is_api_user: web_api_only };
}

function userJson(user: UserMessage) {
  return { ...personJson(user), operator_ids: user.operator_ids, created_at: user.created_at };
}

/** docs/api.md, "The desk of a team". */
export function colleagues({ keyManagement: keys }: Services): Endpoint[] {
  const endpoint = servedBy(keys, { tag: 'Desk', roles: EVERY_ROLE });
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/people',
      query: PageQuery,
      id: 'listPeople',
      summary: 'List the people of the firm',
      description:
        'Names for those who assign, mention and compare; oldest first, with the API user of the firm. Every role may read them; an OPERATOR is told of no other OPERATOR.',
      responses: { 200: { description: 'A page of people.', schema: PeoplePage } },
      async handle({ caller, query }) {
        const { count, users: found } = await (caller.role === 'OPERATOR'
          ? othersThanOperators(keys, caller, query)
          : keys.listUsers({ firm_uuid: caller.firmUuid, ...query }));
        return { body: { count, items: found.map(personJson) } };
      },
    }),
  ];
}

/** A page of the people who judge calls, and of the caller. */
async function othersThanOperators(
  keys: Services['keyManagement'],
  { firmUuid, userUuid }: Caller,
  { page: number, size: most }: { readonly page: number; readonly size: number },
) {
  // Page 0 is all of them.
  const { users: all } = await keys.listUsers({ firm_uuid: firmUuid, page: 0, size: 0 });
  const known = all.filter(({ uuid, role }) => role !== 'OPERATOR' || uuid === userUuid);
  return { count: known.length, users: known.slice((number - 1) * most, number * most) };
}

/** Throws VALIDATION_ERROR for those who are not people of the caller's firm, or have none of the roles. */
export async function requirePeople(
  keys: Services['keyManagement'],
  { firmUuid }: Caller,
  fields: Readonly<Record<string, string | readonly string[] | null>>,
  roles: readonly string[] = EVERY_ROLE,
): Promise<void> {
  const named = Object.entries(fields).flatMap(([name, given]) =>
    given === null || typeof given === 'string'
      ? [{ field: name, uuid: given }]
      : given.map((uuid, at) => ({ field: `${name}.${at}`, uuid })),
  );
  const faults = await Promise.all(
    named.map(async ({ field, uuid }): Promise<FieldFault[]> => {
      if (uuid === null) return [];
      const { user } = await keys.findUser({ user_uuid: uuid, firm_uuid: firmUuid });
      if (user === undefined || user === null || user.web_api_only)
        return [{ field, code: 'INVALID', message: 'is not a user of this firm' }];
      if (roles.includes(user.role)) return [];
      return [{ field, code: 'INVALID', message: `has the role ${user.role}, not ${roles.join(' or ')}` }];
    }),
  );
  if (faults.flat().length > 0) throw invalidFields(faults.flat());
}
