import { Fault } from '@call-analysis/fault';
import type { keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import type { Caller } from '../authentication/caller.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { page, size, uuid } from '../http/request/fields.ts';
import { CreatedKey, KeyPage } from '../response-schemas/api-keys.ts';

const PATH = '/external/api/v1/api-key';

/** external-interface.md, "Endpoints" 1 to 3. */
export function apiKeys(keys: Pick<Client<typeof keyManagement>, 'createKey' | 'listKeys' | 'deleteKey'>): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: PATH,
      proof: 'bearer',
      roles: ['SUPERUSER', 'WORKFLOW_ENGINEER'],
      body: z
        .strictObject({ firm_uuid: uuid() })
        .meta({ examples: [{ firm_uuid: '1a2b3c4d-0000-4000-8000-000000000001' }] }),
      about: {
        tag: 'API keys',
        summary: 'Create an API key',
        description: 'A firm has one active key. The key is shown in this answer and never again.',
        answers: { 201: { description: 'The key.', schema: CreatedKey } },
        refusals: ['NOT_FOUND', 'KEY_EXISTS'],
      },
      async handle({ caller, body, address }) {
        const made = await keys.createKey({ actor: actorOf(caller, address), firm_uuid: body.firm_uuid });
        const { api_key, key_prefix, firm_uuid, firm_name } = made;
        return { status: 201, body: { api_key, key_prefix, firm: { uuid: firm_uuid, name: firm_name } } };
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      proof: 'bearer',
      roles: ['SUPERUSER'],
      query: z.strictObject({ page, size }),
      about: {
        tag: 'API keys',
        summary: 'List API keys',
        description: 'Newest first.',
        answers: { 200: { description: 'A page of keys.', schema: KeyPage } },
      },
      async handle({ caller, query, address }) {
        const { count, items } = await keys.listKeys({ actor: actorOf(caller, address), ...query });
        return {
          status: 200,
          body: {
            count,
            items: items.map((key) => ({
              uuid: key.uuid,
              key_prefix: key.key_prefix,
              is_active: key.is_active,
              firm: { uuid: key.firm_uuid, name: key.firm_name },
              created_at: key.created_at,
              last_used: key.last_used ?? null,
            })),
          },
        };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:api_key_uuid`,
      proof: 'bearer',
      roles: ['SUPERUSER'],
      about: {
        tag: 'API keys',
        summary: 'Delete an API key',
        description:
          'Whoever uses it is refused within a second, or within 5 s while the news of it cannot travel. The firm may be given another one at once.',
        answers: { 204: { description: 'The key is dead.' } },
      },
      async handle({ caller, params, address }) {
        const named = uuid().safeParse(params['api_key_uuid']);
        // Keys are managed for all firms, so the words are those of key-management.
        if (!named.success) throw new Fault('not-found', 'NOT_FOUND', 'There is no such API key. Check the uuid.');
        await keys.deleteKey({ actor: actorOf(caller, address), key_uuid: named.data });
        return { status: 204 };
      },
    }),
  ];
}

function actorOf(caller: Caller, address: string) {
  return { user_uuid: caller.userUuid, firm_uuid: caller.firmUuid, role: caller.role, address };
}
