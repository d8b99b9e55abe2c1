import { PageQuery, people, written } from '@call-analysis/api/fields';
import { CommentPage, CommentSchema } from '@call-analysis/api/people';
import type { ingest, keyManagement } from '@call-analysis/proto';
import type { Client } from '@call-analysis/rpc';
import { z } from 'zod';
import { AND_REVIEWERS } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { requirePeople } from '../firms-and-users/people.ts';
import { actorOf, answered, callerOf } from '../rpc-caller.ts';

const PATH = '/api/v1/calls/:uuid/comments';
const MAX_TEXT_CHARS = 5_000;
const MAX_MENTIONS = 20;
const MAX_UTTERANCE = 2 ** 31 - 1;

const NewComment = z
  .strictObject({
    text: written(MAX_TEXT_CHARS),
    utterance: z
      .int()
      .min(0)
      .max(MAX_UTTERANCE)
      .optional()
      .meta({ description: 'The `index` of the utterance that the comment is about.' }),
    mentions: people(MAX_MENTIONS).optional().meta({ description: 'Users whom it calls: it is in their inbox.' }),
  })
  .meta({ examples: [{ text: 'She should have offered to call back.', utterance: 4 }] });

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
      async handle({ caller, params, body, address }) {
        const call_uuid = params.uuid;
        const { utterance, mentions = [] } = body;
        await requirePeople(keys, caller, { mentions });
        const reply = await catalogue.addComment({
          caller: actorOf(caller, address),
          call_uuid,
          text: body.text,
          ...(utterance !== undefined && { utterance }),
          mentions,
        });
        return answered(reply, 201);
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
      async handle({ caller, params, query }) {
        const call_uuid = params.uuid;
        return answered(await catalogue.listComments({ caller: callerOf(caller), call_uuid, ...query }));
      },
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
      async handle({ caller, params, address }) {
        await catalogue.deleteComment({
          caller: actorOf(caller, address),
          call_uuid: params.uuid,
          comment_uuid: params.comment_uuid,
          is_admin: caller.role === 'ADMIN',
        });
        return { status: 204 };
      },
    }),
  ];
}
