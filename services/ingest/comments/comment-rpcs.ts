import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Comment as CommentMessage } from '@call-analysis/proto/ingest/v1/Comment';
import type { Handlers } from '@call-analysis/rpc';
import { PageRequest, requireCaller } from '@call-analysis/service';
import { z } from 'zod';
import { answer, present, type Sent } from '../answer.ts';
import { type CommentDeps, commentOnCall, deleteComment } from './comment-on-call.ts';
import type { Comment } from './comment-store.ts';

const Utterance = z.int().min(0);

/** The RPCs of comments. */
export function commentRpcs(deps: CommentDeps) {
  return {
    addComment: async (request) => {
      const { text, utterance } = request;
      const written = {
        text,
        utterance: Utterance.optional().parse(utterance) ?? null,
        mentions: z.array(Uuid).parse(request.mentions),
      };
      const actor = requireCaller(request.caller);
      return answer(
        request.caller,
        await commentOnCall(deps, actor, Uuid.parse(request.call_uuid), written),
        commentMessage,
      );
    },

    listComments: async (request) => {
      const { firmUuid } = requireCaller(request.caller);
      const callUuid = Uuid.parse(request.call_uuid);
      const { page, size } = PageRequest.parse(request);
      // An unknown call is NOT_FOUND, not an empty list.
      await deps.calls.get(firmUuid, callUuid);
      const found = await deps.comments.list(firmUuid, callUuid, page, size);
      return answer(request.caller, found, (json) => ({ ...json, items: json.items.map(commentMessage) }));
    },

    deleteComment: async (request) => {
      const actor = { ...requireCaller(request.caller), isAdmin: request.is_admin };
      await deleteComment(deps, actor, Uuid.parse(request.call_uuid), Uuid.parse(request.comment_uuid));
      return {};
    },
  } satisfies Partial<Handlers<typeof ingest>>;
}

/** As the last release sent it. */
function commentMessage(comment: Sent<Comment>): CommentMessage {
  return present(comment) as CommentMessage;
}
