import { z } from 'zod';
import { endpoint } from '../http/endpoint.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { page, size, text } from '../http/fields.ts';

const Status = z.enum(['draft', 'active', 'paused', 'completed', 'canceled']);

/** api.md, section 7. Nothing makes campaigns yet, so the list of a firm's campaigns is empty. */
export function campaigns(): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/external/api/v1/call-campaign',
      proof: 'api-key',
      query: z.strictObject({ status: Status.optional(), external_id: text(255).optional(), page, size }),
      handle: async () => ({ status: 200, body: { count: 0, items: [] } }),
    }),
  ];
}
