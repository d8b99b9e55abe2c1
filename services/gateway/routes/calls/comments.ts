import { PageQuery } from '@call-analysis/api/fields';
import { CommentPage, CommentSchema, NewComment } from '@call-analysis/api/people';
import type { ingest, keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { requirePeople } from '../firms-and-users/people.ts';
import { passTo } from '../rpc-caller.ts';

const PATH = '/api/v1/calls/:uuid/comments';
/** Comments on calls (docs/api.md, "People's judgement"). */
export function comments(
  catalogue: Pick<Client<typeof ingest>, 'addComment' | 'listComments' | 'deleteComment'>,
  keys: Pick<Client<typeof keyManagement>, 'findUser'>,
): Endpoint[] {
  const tag = 'Reviews';
  return [
    endpoint({
      method: 'POST',
      path: PATH,
      roles: AND_REVIEWERS,
      body: NewComment,
      tag,
      id: 'addComment',
      summary: 'Comment on a call',
      description: 'On the whole call, or on one utterance of it.',
      responses: { 201: { description: 'The comment.', schema: CommentSchema } },
      async handle(input) {
        await requirePeople(keys, input.caller, { mentions: input.body.mentions ?? [] });
        return passTo(catalogue, 'addComment')(input);
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      roles: AND_REVIEWERS,
      query: PageQuery,
      tag,
      id: 'listComments',
      summary: 'List the comments on a call',
      description: 'Oldest first.',
      responses: { 200: { description: 'A page of comments.', schema: CommentPage } },
      handle: passTo(catalogue, 'listComments'),
    }),
    endpoint({
      method: 'DELETE',
      path: `${PATH}/:comment_uuid`,
      roles: AND_REVIEWERS,
      tag,
      id: 'deleteComment',
      summary: 'Delete a comment',
      description: 'Your own; an ADMIN may delete those of others.',
      responses: { 204: { description: 'It is deleted.' } },
      handle: passTo(catalogue, 'deleteComment'),
    }),
  ];
}
