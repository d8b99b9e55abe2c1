import { Uuid } from '@call-analysis/events';
import type { ingest } from '@call-analysis/proto';
import type { Handlers } from '@call-analysis/rpc';
import { requireCaller } from '@call-analysis/service';
import { z } from 'zod';
import { type CommentDeps, commentOnCall, deleteComment } from './comment-on-call.ts';
import type { Comment } from './comment-store.ts';

const Utterance = z.int().min(0);
const Page = z.object({ page: z.int().min(1), size: z.int().min(1).max(100) });

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
      return commentMessage(
        await commentOnCall(deps, requireCaller(request.caller), Uuid.parse(request.call_uuid), written),
      );
    },

    listComments: async (request) => {
      const { firmUuid } = requireCaller(request.caller);
      const callUuid = Uuid.parse(request.call_uuid);
      const { page, size } = Page.parse(request);
      // An unknown call is NOT_FOUND, not an empty list.
      await deps.calls.get(firmUuid, callUuid);
      const { count, items } = await deps.comments.list(firmUuid, callUuid, page, size);
      return { count, items: items.map(commentMessage) };
    },

    deleteComment: async (request) => {
      const actor = { ...requireCaller(request.caller), isAdmin: request.is_admin };
      await deleteComment(deps, actor, Uuid.parse(request.call_uuid), Uuid.parse(request.comment_uuid));
      return {};
    },
  } satisfies Partial<Handlers<typeof ingest>>;
}

function commentMessage({ uuid, text, utterance, by, at, mentions }: Comment) {
  return { uuid, text, by, at: at.toISOString(), mentions: [...mentions], ...(utterance !== null && { utterance }) };
}
