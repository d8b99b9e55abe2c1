import { InboxPage } from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import type { desk } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { passTo } from '../rpc-caller.ts';

/** docs/api.md, "The desk of a team". */
export function inbox(team: Pick<Client<typeof desk>, 'readInbox' | 'putMentionAway'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/inbox',
      roles: EVERY_ROLE,
      query: PageQuery,
      tag: 'Desk',
      id: 'readInbox',
      summary: 'List what waits for you',
      description:
        'Newest first: comments that mention you, until you comment on the call or put the mention away; calls that are assigned to you, until they are reviewed; open disputes of others; calibrations, until you have answered.',
      responses: { 200: { description: 'A page of items.', schema: InboxPage } },
      handle: passTo(team, 'readInbox'),
    }),
    endpoint({
      method: 'DELETE',
      path: '/api/v1/inbox/mentions/:comment_uuid',
      roles: EVERY_ROLE,
      tag: 'Desk',
      id: 'putMentionAway',
      summary: 'Put a mention away',
      description: 'A comment that mentions you no longer waits for you. The comment stays.',
      responses: { 204: { description: 'It no longer waits for you.' } },
      handle: passTo(team, 'putMentionAway'),
    }),
  ];
}
