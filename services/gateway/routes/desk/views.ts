import { NewView, View, ViewChange, ViewPage } from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import type { desk } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { passTo } from '../rpc-caller.ts';

const PATH = '/api/v1/views';
const tag = 'Desk';
const access = { credentials: 'bearer', roles: AND_REVIEWERS } as const;

/** docs/api.md, "The desk of a team". */
export function views(
  team: Pick<Client<typeof desk>, 'listViews' | 'getView' | 'createView' | 'changeView' | 'deleteView'>,
): Endpoint[] {
  return [
    endpoint({
      ...access,
      method: 'GET',
      path: PATH,
      query: PageQuery,
      tag,
      id: 'listViews',
      summary: 'List saved views',
      description: 'Your own, then those that others share with the firm, each by name.',
      responses: { 200: { description: 'A page of views.', schema: ViewPage } },
      handle: passTo(team, 'listViews'),
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
      handle: passTo(team, 'createView'),
    }),
    endpoint({
      ...access,
      method: 'GET',
      path: `${PATH}/:uuid`,
      tag,
      id: 'getView',
      summary: 'Get a saved view',
      responses: { 200: { description: 'The view.', schema: View } },
      handle: passTo(team, 'getView'),
    }),
    endpoint({
      ...access,
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: ViewChange,
      tag,
      id: 'changeView',
      summary: 'Change a saved view',
      description: 'Your own, or as an ADMIN a shared one. Absent fields do not change.',
      responses: { 200: { description: 'The view.', schema: View } },
      handle: passTo(team, 'changeView'),
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
      handle: passTo(team, 'deleteView'),
    }),
  ];
}
