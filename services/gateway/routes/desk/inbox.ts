import { InboxPage } from '@call-analysis/api/desk';
import { page, size } from '@call-analysis/api/fields';
import type { desk } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { EVERY_ROLE } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { answered, callerOf } from './desk-caller.ts';

/** docs/api.md, "The desk of a team". */
export function inbox(team: Pick<Client<typeof desk>, 'readInbox'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/api/v1/inbox',
      roles: EVERY_ROLE,
      query: z.strictObject({ page, size }),
      tag: 'Desk',
      id: 'readInbox',
      summary: 'List what waits for you',
      description:
        'Newest first: comments that mention you, until you comment on the call; calls that are assigned to you, until they are reviewed; open disputes of others; calibrations, until you have answered.',
      responses: { 200: { description: 'A page of items.', schema: InboxPage } },
      handle: async ({ caller, query, address }) =>
        answered(await team.readInbox({ caller: callerOf(caller, address), page: query })),
    }),
  ];
}
