import { CreatedKey, KeyPage } from '@call-analysis/api/access';
import { PageQuery } from '@call-analysis/api/fields';
import { Uuid } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import type { CreateKeyReply } from '@call-analysis/proto/key_management/v1/CreateKeyReply';
import { z } from 'zod';
import type { Caller } from '../authentication/caller.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { managerOf, servedBy, type Services } from './rpc-caller.ts';

const PATH = '/external/api/v1/api-key';

/** docs/api.md, "Keys and users". */
export function apiKeys({ keyManagement: keys }: Services, platformFirms?: readonly string[]): Endpoint[] {
  /** The caller for key-management. Fault: FORBIDDEN. */
  function actorOf(caller: Caller, address: string) {
    if (platformFirms !== undefined && !platformFirms.includes(caller.firmUuid)) {
      throw new Fault(
        'forbidden',
        'FORBIDDEN',
        'API keys are managed by the staff of the firm that runs this service.',
      );
    }
    return managerOf(caller, address);
  }

  const endpoint = servedBy(keys, { tag: 'API keys', roles: ['SUPERUSER'] });
  return [
    endpoint({
      method: 'POST',
      path: PATH,
      roles: ['SUPERUSER', 'WORKFLOW_ENGINEER'],
      body: z
        .strictObject({
          firm_uuid: Uuid,
          expires_at: futureTime().optional().meta({ description: 'When the key expires. Default: never.' }),
        })
        .meta({ id: 'CreateApiKeyRequest', examples: [{ firm_uuid: '1a2b3c4d-0000-4000-8000-000000000001' }] }),
      id: 'createApiKey',
      summary: 'Create an API key',
      description: 'A firm has one active key. Only this response shows the key.',
      responses: { 201: { description: 'The key.', schema: CreatedKey } },
      errors: ['NOT_FOUND', 'KEY_EXISTS'],
      async handle({ caller, body, address }) {
        const created = await keys.createKey({
          actor: actorOf(caller, address),
          firm_uuid: body.firm_uuid,
          ...(body.expires_at !== undefined && { expires_at: body.expires_at }),
        });
        return { status: 201, body: createdKey(created) };
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      query: PageQuery,
      id: 'listApiKeys',
      summary: 'List API keys',
      description: 'Newest first.',
      responses: { 200: { description: 'A page of keys.', schema: KeyPage } },
      async handle({ caller, query, address }) {
        const { count, items } = await keys.listKeys({ actor: actorOf(caller, address), ...query });
        return {
          body: {
            count,
            items: items.map((key) => ({
              uuid: key.uuid,
              key_prefix: key.key_prefix,
              is_active: key.is_active,
              firm: { uuid: key.firm_uuid, name: key.firm_name },
              created_at: key.created_at,
              last_used: key.last_used ?? null,
              ...(key.expires_at !== undefined && { expires_at: key.expires_at }),
            })),
          },
        };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:api_key_uuid/rotate`,
      params: { api_key_uuid: Uuid },
      body: z
        .strictObject({
          grace_seconds: z
            .int('must be a whole number')
            .min(0, 'must be from 0 to 86400')
            .max(86_400, 'must be from 0 to 86400')
            .default(0)
            .meta({ description: 'For how long the old key still works.' }),
        })
        .meta({ id: 'RotateApiKeyRequest', examples: [{ grace_seconds: 3600 }] }),
      optionalBody: true,
      id: 'rotateApiKey',
      summary: 'Replace an API key',
      description:
        'The new key is shown only in this response. The old one works for the grace period and is no longer listed; deleting either key ends it earlier.',
      responses: { 201: { description: 'The new key.', schema: CreatedKey } },
      errors: ['NOT_FOUND'],
      async handle({ caller, params, body, address }) {
        const key_uuid = keyUuid(params['api_key_uuid']);
        const created = await keys.rotateKey({ actor: actorOf(caller, address), key_uuid, ...body });
        return { status: 201, body: createdKey(created) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:api_key_uuid`,
      params: { api_key_uuid: Uuid },
      id: 'deleteApiKey',
      summary: 'Delete an API key',
      description:
        'Requests with this key are refused within one second, or within 5 seconds while the event bus is unavailable. A new key can be created for the firm immediately.',
      responses: { 204: { description: 'The key is deleted.' } },
      async handle({ caller, params, address }) {
        const key_uuid = keyUuid(params['api_key_uuid']);
        await keys.deleteKey({ actor: actorOf(caller, address), key_uuid });
        return { status: 204 };
      },
    }),
  ];
}

function keyUuid(given: string | undefined): string {
  const parsed = Uuid.safeParse(given);
  if (parsed.success) return parsed.data;
  // The same message as key-management's, which does not mention a firm: keys of all firms are managed here.
  throw new Fault('not-found', 'NOT_FOUND', 'There is no such API key. Check the uuid.');
}

function createdKey({ api_key, key_prefix, firm_uuid, firm_name }: CreateKeyReply) {
  return { api_key, key_prefix, firm: { uuid: firm_uuid, name: firm_name } };
}

/** ISO 8601 with an offset, in the future. */
function futureTime() {
  return z.iso
    .datetime({ offset: true, error: 'must be a time such as 2027-01-01T00:00:00Z' })
    .refine((time) => Date.parse(time) > Date.now(), 'must be in the future')
    .transform((time) => new Date(time).toISOString())
    .meta({ documentedAs: { type: 'string', format: 'date-time' } });
}
