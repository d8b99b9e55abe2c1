import type { ingest } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { callDetail, callItem } from './call-shape.ts';
import { endpoint } from '../http/endpoint.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { anyOf, page, pathUuid, size, text, uuid } from '../http/fields.ts';
import type { PublicUrl } from '../http/public-url.ts';
import { callerOf } from './ingest-caller.ts';

const PATH = '/api/v1/calls';
const Status = z.enum(['queued', 'transcribing', 'analyzing', 'completed', 'failed', 'canceled']);

/** api.md, section 6. */
export function calls(
  catalogue: Pick<Client<typeof ingest>, 'listCalls' | 'getCall' | 'retryCall'>,
  publicUrl: PublicUrl,
): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      proof: 'bearer',
      query: z.strictObject({
        status: anyOf(Status),
        batch: uuid().optional(),
        partner_call_id: text(255).optional(),
        page,
        size,
      }),
      async handle({ caller, query }) {
        const { count, items } = await catalogue.listCalls({ caller: callerOf(caller), ...query });
        return { status: 200, body: { count, items: items.map(callItem), next_cursor: null } };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      proof: 'bearer',
      async handle({ caller, params, request }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        const call = await catalogue.getCall({ caller: callerOf(caller), call_uuid });
        return { status: 200, body: callDetail(call, (url) => publicUrl(request, url)) };
      },
    }),
    endpoint({
      method: 'POST',
      path: `${PATH}/:uuid/retry`,
      proof: 'bearer',
      async handle({ caller, params }) {
        const call_uuid = pathUuid(params['uuid'], 'call');
        return { status: 202, body: callItem(await catalogue.retryCall({ caller: callerOf(caller), call_uuid })) };
      },
    }),
  ];
}
