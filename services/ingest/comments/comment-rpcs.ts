import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Handlers } from '@call-analysis/rpc';
import { PageRequest, requireCaller } from '@call-analysis/service';
import { z } from 'zod';
import { answerOf } from '../answer.ts';
import { type CommentDeps, commentOnCall, deleteComment } from './comment-on-call.ts';

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
      return answerOf(await commentOnCall(deps, actor, Uuid.parse(request.call_uuid), written));
    },

    listComments: async (request) => {
      const { firmUuid } = requireCaller(request.caller);
      const callUuid = Uuid.parse(request.call_uuid);
      // An unknown call is NOT_FOUND, not an empty list.
      await deps.calls.get(firmUuid, callUuid);
      return answerOf(await deps.comments.list(firmUuid, callUuid, PageRequest.parse(request)));
    },

    deleteComment: async (request) => {
      const actor = { ...requireCaller(request.caller), isAdmin: request.is_admin };
      await deleteComment(deps, actor, Uuid.parse(request.call_uuid), Uuid.parse(request.comment_uuid));
      return {};
    },
  } satisfies Partial<Handlers<typeof ingest>>;
}
