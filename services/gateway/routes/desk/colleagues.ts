import { PeoplePage } from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { type Caller, EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';

/** docs/api.md, "The desk of a team". */
export function colleagues(keys: Pick<Client<typeof keyManagement>, 'listUsers'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/people',
      roles: EVERY_ROLE,
      query: PageQuery,
      tag: 'Desk',
      id: 'listPeople',
      summary: 'List the people of the firm',
      description:
        'Names for those who assign, mention and compare; oldest first, with the API user of the firm. Every role may read them; an OPERATOR is told of no other OPERATOR.',
      responses: { 200: { description: 'A page of people.', schema: PeoplePage } },
      async handle({ caller, query }) {
        const { count, users } = await (caller.role === 'OPERATOR'
          ? othersThanOperators(keys, caller, query)
          : keys.listUsers({ firm_uuid: caller.firmUuid, ...query }));
        const items = users.map(({ uuid, name, role, web_api_only }) => ({
          uuid,
          name,
          role,
          is_api_user: web_api_only,
        }));
        return { status: 200, body: { count, items } };
      },
    }),
  ];
}

/** A page of the people who judge calls, and of the caller. */
async function othersThanOperators(
  keys: Pick<Client<typeof keyManagement>, 'listUsers'>,
  { firmUuid, userUuid }: Caller,
  { page: number, size: most }: { readonly page: number; readonly size: number },
) {
  // Page 0 is all of them.
  const { users } = await keys.listUsers({ firm_uuid: firmUuid, page: 0, size: 0 });
  const known = users.filter(({ uuid, role }) => role !== 'OPERATOR' || uuid === userUuid);
  return { count: known.length, users: known.slice((number - 1) * most, number * most) };
}
