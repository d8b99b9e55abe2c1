import { NewView, View, ViewChange, ViewPage } from '@call-analysis/api/desk';
import { PageQuery } from '@call-analysis/api/fields';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { servedBy, type Services } from '../rpc-caller.ts';

const PATH = '/api/v1/views';

/** docs/api.md, "The desk of a team". */
export function views({ desk }: Services): Endpoint[] {
  const endpoint = servedBy(desk, { tag: 'Desk', roles: AND_REVIEWERS });
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      query: PageQuery,
      id: 'listViews',
      summary: 'List saved views',
      description: 'Your own, then those that others share with the firm, each by name.',
      responses: { 200: { description: 'A page of views.', schema: ViewPage } },
    }),
    endpoint({
      method: 'POST',
      path: PATH,
      body: NewView,
      id: 'createView',
      summary: 'Save a view',
      description: 'A filter and an order of calls under a name.',
      responses: { 201: { description: 'The view.', schema: View } },
      errors: ['TOO_MANY_VIEWS'],
    }),
    endpoint({
      method: 'GET',
      path: `${PATH}/:uuid`,
      id: 'getView',
      summary: 'Get a saved view',
      responses: { 200: { description: 'The view.', schema: View } },
    }),
    endpoint({
      method: 'PATCH',
      path: `${PATH}/:uuid`,
      body: ViewChange,
      id: 'changeView',
      summary: 'Change a saved view',
      description: 'Your own, or as an ADMIN a shared one. Absent fields do not change.',
      responses: { 200: { description: 'The view.', schema: View } },
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:uuid`,
      id: 'deleteView',
      summary: 'Delete a saved view',
      description: 'Your own, or as an ADMIN a shared one.',
      responses: { 204: { description: 'It is deleted.' } },
    }),
  ];
}
