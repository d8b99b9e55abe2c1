import { View, ViewPage } from '@call-analysis/api/desk';
import { name, page, size } from '@call-analysis/api/fields';
import type { desk } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { answered, callerOf } from './desk-caller.ts';
import { SavedQuery } from './saved-query.ts';

const PATH = '/api/v1/views';
const tag = 'Desk';
const access = { credentials: 'bearer', roles: AND_REVIEWERS } as const;

const fields = {
  name: name(255),
  query: SavedQuery,
  shared: z.boolean().optional().meta({ description: 'Everyone of the firm sees it. Default: false.' }),
  start_page: z.boolean().optional().meta({ description: 'It replaces the one before. Default: false.' }),
};
const example = { name: 'Low scores in Sales', query: { segment_type: ['Sales'], score_max: '60', sort: 'score' } };
const NewView = z.strictObject(fields).meta({ id: 'CreateViewRequest', examples: [{ ...example, shared: true }] });
const Change = z
  .strictObject(fields)
  .partial()
  .meta({ id: 'ChangeViewRequest', examples: [{ start_page: true }] });

/** docs/api.md, "The desk of a team". */
export function views(
  team: Pick<Client<typeof desk>, 'listViews' | 'getView' | 'createView' | 'changeView' | 'deleteView'>,
): Endpoint[] {
  return [
    endpoint({
      ...access,
      method: 'GET',
      path: PATH,
      query: z.strictObject({ page, size }),
      tag,
      id: 'listViews',
      summary: 'List saved views',
      description: 'Your own, then those that others share with the firm, each by name.',
      responses: { 200: { description: 'A page of views.', schema: ViewPage } },
      handle: async ({ caller, query, address }) =>
        answered(await team.listViews({ caller: callerOf(caller, address), page: query })),
    }),
    endpoint({
      ...access,
      method: 'POST',
      path: PATH,
      body: NewView,
      tag,
      id: 'createView',
      summary: 'Save a view',
      description: 'A filter and an order of calls under a name.',
      responses: { 201: { description: 'The view.', schema: View } },
      errors: ['TOO_MANY_VIEWS'],
      handle: async ({ caller, body, address }) =>
        answered(await team.createView({ caller: callerOf(caller, address), fields: fieldsOf(body) }), 201),
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid`,
      tag,
      id: 'getView',
      summary: 'Get a saved view',
      responses: { 200: { description: 'The view.', schema: View } },
      handle: async ({ caller, params, address }) => {
        const view_uuid = params.uuid;
        return answered(await team.getView({ caller: callerOf(caller, address), view_uuid }));
      },
    }),
    endpoint({
      ...access,
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: Change,
      tag,
      id: 'changeView',
      summary: 'Change a saved view',
      description: 'Your own, or as an ADMIN a shared one. Absent fields do not change.',
      responses: { 200: { description: 'The view.', schema: View } },
      handle: async ({ caller, params, body, address }) => {
        const view_uuid = params.uuid;
        return answered(
          await team.changeView({ caller: callerOf(caller, address), view_uuid, fields: fieldsOf(body) }),
        );
      },
    }),
    endpoint({
      ...access,
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      tag,
      id: 'deleteView',
      summary: 'Delete a saved view',
      description: 'Your own, or as an ADMIN a shared one.',
      responses: { 204: { description: 'It is deleted.' } },
      handle: async ({ caller, params, address }) => {
        await team.deleteView({ caller: callerOf(caller, address), view_uuid: params.uuid });
        return { status: 204 };
      },
    }),
  ];
}

function fieldsOf({ query, ...rest }: z.output<typeof Change>) {
  return { ...rest, ...(query !== undefined && { query_json: JSON.stringify(query) }) };
}
