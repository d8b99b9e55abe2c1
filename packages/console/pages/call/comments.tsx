import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { api, type Schemas, send, get } from '../../api/client.ts';
import { saving } from '../../api/query-client.ts';
import { useWriting } from '../../drafts/leave-question.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useMay, useSession } from '../../session/session.ts';
import { failed, useAction } from '../../widgets/actions.tsx';
import { Button, Form } from '../../widgets/controls.tsx';
import { Highlighted } from '../../widgets/highlighted.tsx';
import { usePeople, usePersonName } from '../../widgets/people.ts';
import { callTexts } from '../texts.ts';
import { MentionField } from './desk/mention-field.tsx';
import { mentionsIn } from './desk/mentions.ts';
import { FOLLOW_MS } from './use-call.ts';

type Comment = Schemas['Comment'];

const MAX_CHARS = 5000;
const key = (uuid: string) => ['comments', uuid];

/** The comments on a call, oldest first; null for those who do not see comments. */
export function useComments(uuid: string): readonly Comment[] | null {
  const isShown = useMay('review');
  const { data } = useQuery({
    ...get(key(uuid), '/api/v1/calls/{uuid}/comments', { path: { uuid }, query: { size: 100 } }),
    enabled: isShown,
    refetchInterval: FOLLOW_MS,
  });
  return isShown ? (data?.items ?? []) : null;
}

interface Props {
  readonly callUuid: string;
  readonly comments: readonly Comment[];
  /** The utterance that they are about. Absent: the whole call. */
  readonly utterance?: number;
}

/** Comments on a call or an utterance, and a button that opens a field for another. */
export function Comments({ callUuid, comments, utterance }: Props) {
  const t = callTexts.use();
  const writing = useWriting(`comment ${callUuid} ${utterance ?? ''}`);
  return (
    <div className="comments">
      {comments.map((comment) => (
        <OneComment key={comment.uuid} callUuid={callUuid} comment={comment} />
      ))}
      {writing.isOpen ? (
        <NewComment {...{ callUuid, utterance, writing }} />
      ) : (
        <Button
          icon="comment"
          kind="quiet"
          isSmall
          className="comment-add"
          onClick={writing.open}
          aria-label={utterance === undefined ? t('addComment') : t('commentAt', { number: String(utterance + 1) })}
        >
          {utterance === undefined && t('addComment')}
        </Button>
      )}
    </div>
  );
}

function OneComment({ callUuid, comment }: { callUuid: string; comment: Comment }) {
  const t = callTexts.use();
  const nameOf = usePersonName();
  const mentioned = usePeople().filter(({ uuid }) => comment.mentions.includes(uuid));
  const { userUuid, role } = useSession();
  const isOwn = comment.by === userUuid;
  const remove = useAction(
    () =>
      send(
        api.DELETE('/api/v1/calls/{uuid}/comments/{comment_uuid}', {
          params: { path: { uuid: callUuid, comment_uuid: comment.uuid } },
        }),
      ),
    { changes: [key(callUuid)] },
  );
  return (
    <div className="comment">
      <p className="foreign">
        <Highlighted text={comment.text} spans={mentionsIn(comment.text, mentioned)} />
      </p>
      <span className="muted">
        <span className="foreign">{nameOf(comment.by)}</span> · {format.dateTime(comment.at)}
      </span>
      {(isOwn || role === 'ADMIN') && (
        <Button
          icon="close"
          kind="quiet"
          isSmall
          label={t('deleteComment')}
          disabled={remove.isPending}
          onClick={() => remove.mutate()}
        />
      )}
    </div>
  );
}

interface NewCommentProps {
  readonly callUuid: string;
  readonly utterance: number | undefined;
  readonly writing: ReturnType<typeof useWriting>;
}

function NewComment({ callUuid, utterance, writing: { text, set, done, leave } }: NewCommentProps) {
  const t = callTexts.use();
  const shell = shellTexts.use();
  const client = useQueryClient();
  const { userUuid } = useSession();
  const people = usePeople();
  const path = { uuid: callUuid };
  // The comments before this one, once it was sent.
  const before = useRef<ReadonlySet<string> | null>(null);
  /** Whether a request that was not answered has been carried out. */
  const isStored = async () => {
    if (before.current === null) return false;
    const { items } = await send(api.GET('/api/v1/calls/{uuid}/comments', { params: { path, query: { size: 100 } } }));
    return items.some(({ uuid, by, ...comment }) => {
      const isNew = by === userUuid && !before.current!.has(uuid);
      return isNew && comment.text === text.trim() && comment.utterance === (utterance ?? null);
    });
  };
  const add = useMutation({
    ...saving,
    mutationFn: async () => {
      if (await isStored()) return;
      const known = client.getQueryData<Schemas['CommentPage']>(key(callUuid));
      before.current ??= new Set(known?.items.map(({ uuid }) => uuid));
      const mentions = [...new Set(mentionsIn(text, people).map(({ uuid }) => uuid))];
      const body = { text: text.trim(), mentions, ...(utterance !== undefined && { utterance }) };
      await send(api.POST('/api/v1/calls/{uuid}/comments', { params: { path }, body }));
    },
    onSuccess: async () => {
      // A comment answers those that mention its author.
      void client.invalidateQueries({ queryKey: ['inbox'] });
      await client.invalidateQueries({ queryKey: key(callUuid) });
      done();
    },
    // Keeps the typed text.
    onError: failed,
  });
  const submit = () => {
    if (text.trim() !== '') add.mutate();
  };
  return (
    <Form className="comment-form" onSend={submit}>
      <MentionField
        label={t('comment')}
        value={text}
        maxLength={MAX_CHARS}
        onChange={set}
        onSubmit={submit}
        onCancel={leave}
      />
      <div className="dialog-actions">
        <Button isSmall onClick={leave}>
          {shell('cancel')}
        </Button>
        <Button kind="primary" isSmall isSubmit disabled={add.isPending || text.trim() === ''}>
          {add.failureCount > 0 && add.isPending ? t('notSaved') : shell('save')}
        </Button>
      </div>
    </Form>
  );
}
