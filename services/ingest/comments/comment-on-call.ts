import type { NewComment } from '@call-analysis/api/people';
import { Fault, invalidFields, notFound } from '@call-analysis/fault';
import { type Actor, auditEntry, type Person, type Publishing } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { Calls } from '../calls/call-store.ts';
import type { Transcripts } from '../calls/transcript-store.ts';
import type { Comment, Comments } from './comment-store.ts';

interface CommentDeps extends Publishing {
  readonly calls: Calls;
  readonly transcripts: Transcripts;
  readonly comments: Comments;
}

/** Adds a comment. Faults: NOT_FOUND; VALIDATION_ERROR for an utterance that the transcript does not have. */
export async function commentOnCall(
  { db, calls, transcripts, comments, bus }: CommentDeps,
  actor: Actor,
  callUuid: string,
  { text, utterance: index, mentions = [] }: z.output<typeof NewComment>,
): Promise<Comment> {
  const { firmUuid, userUuid } = actor;
  const utterance = index ?? null;
  await calls.get(firmUuid, callUuid);
  if (utterance !== null) {
    const length = (await transcripts.find(firmUuid, callUuid))?.length ?? 0;
    if (utterance >= length) {
      const message = length === 0 ? 'must be left out: the call has no transcript' : `must be at most ${length - 1}`;
      throw invalidFields([{ field: 'utterance', code: 'INVALID', message }]);
    }
  }
  const comment: Comment = { uuid: uuidv7(), text, utterance, by: userUuid, at: new Date(), mentions };
  await db.transaction(async (tx) => {
    // Locked, so that an erasure at the same time removes the comment too, or makes the call unknown.
    await calls.lock(tx, firmUuid, callUuid);
    await comments.add(tx, firmUuid, callUuid, comment);
    await bus.publish(tx, [auditEntry('ingest', actor, 'call.commented', callUuid)]);
  });
  return comment;
}

/** Deletes the actor's own comment, or anyone's for an ADMIN. Faults: NOT_FOUND, FORBIDDEN. */
export async function deleteComment(
  { db, comments, bus }: CommentDeps,
  actor: Pick<Person, keyof Actor | 'role'>,
  callUuid: string,
  uuid: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const comment = await comments.lock(tx, actor.firmUuid, callUuid, uuid);
    if (comment === null) throw notFound('comment');
    if (comment.by !== actor.userUuid && actor.role !== 'ADMIN')
      throw new Fault('forbidden', 'FORBIDDEN', 'Only an ADMIN deletes the comments of others.');
    await comments.remove(tx, actor.firmUuid, callUuid, uuid);
    await bus.publish(tx, [auditEntry('ingest', actor, 'call.comment_deleted', callUuid)]);
  });
}
