import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { page, size } from '../../http/request/fields.ts';
import { PeoplePage } from '../../response-schemas/desk.ts';

/** docs/api.md, "The desk of a team". */
export function colleagues(keys: Pick<Client<typeof keyManagement>, 'listUsers'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/people',
      credentials: 'bearer',
      query: z.strictObject({ page, size }),
      docs: {
        tag: 'Desk',
        id: 'listPeople',
        summary: 'List the people of the firm',
        description:
          'Names for those who assign, mention and compare; oldest first, with the API user of the firm. Every role may read them.',
        responses: { 200: { description: 'A page of people.', schema: PeoplePage } },
      },
      async handle({ caller, query }) {
        const { count, users } = await keys.listUsers({ firm_uuid: caller.firmUuid, ...query });
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
