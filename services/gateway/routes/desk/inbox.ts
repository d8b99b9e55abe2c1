import { InboxPage } from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import { EVERY_ROLE } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { servedBy, type Services } from '../rpc-caller.ts';

/** docs/api.md, "The desk of a team". */
export function inbox({ desk }: Services): Endpoint[] {
  const endpoint = servedBy(desk, { tag: 'Desk', roles: EVERY_ROLE });
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/inbox',
      query: PageQuery,
      id: 'readInbox',
      summary: 'List what waits for you',
      description:
        'Newest first: comments that mention you, until you comment on the call or put the mention away; calls that are assigned to you, until they are reviewed; open disputes of others; calibrations, until you have answered.',
      responses: { 200: { description: 'A page of items.', schema: InboxPage } },
    }),
    endpoint({
      method: 'DELETE',
      path: '/api/v1/inbox/mentions/:comment_uuid',
      id: 'putMentionAway',
      summary: 'Put a mention away',
      description: 'A comment that mentions you no longer waits for you. The comment stays.',
      responses: { 204: { description: 'It no longer waits for you.' } },
    }),
  ];
}
