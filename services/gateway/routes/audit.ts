import { AuditPage } from '@call-analysis/api/access';
import { inOrder, instant, page, size, text } from '@call-analysis/api/fields';
import { z } from 'zod';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import type { Services } from './rpc-caller.ts';

const subject = z
  .string()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:\/[^\0]{1,255})?$/iu, 'must be a uuid, as entries show it')
  .refine((value) => value.isWellFormed(), 'must be well-formed text')
  .meta({ documentedAs: { type: 'string', format: 'uuid' } });

/** docs/api.md, "Keys and users". */
export function audit({ keyManagement }: Services): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/audit',
      roles: ['ADMIN'],
      query: inOrder(
        z.strictObject({
          actor: text(255).optional().meta({ description: "A user's uuid, or `admin`." }),
          action: text(64).optional().meta({ description: 'Such as `api_key.created`.' }),
          subject: subject.optional().meta({ description: 'The object of the action.' }),
          from: instant().optional().meta({ description: 'Inclusive.' }),
          to: instant().optional().meta({ description: 'Exclusive.' }),
          page,
          size,
        }),
      ),
      tag: 'Audit',
      id: 'listAuditEntries',
      summary: "List the firm's audit log",
      description: 'Newest first. Refused requests are counted once a minute for each caller, address and code.',
      responses: { 200: { description: 'A page of entries.', schema: AuditPage } },
      async handle({ caller, query }) {
        const { page: number, size: limit, ...filter } = query;
        const { count, entries, names } = await keyManagement.listAudit({
          firm_uuid: caller.firmUuid,
          ...filter,
          limit,
          page: number,
        });
        return {
          body: {
            count,
            items: entries.map(({ at, actor, action, subject: of, request_id, address, code }) => ({
              at,
              actor,
              actor_name: names[actor] ?? null,
              action,
              subject: of,
              subject_name: names[of] ?? null,
              request_id,
              address,
              ...(code !== undefined && { code }),
            })),
          },
        };
      },
    }),
  ];
}
