import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { api, type Schemas, send } from '../../api/client.ts';
import { saving } from '../../api/connection.ts';
import { useWriting } from '../../drafts/drafts.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useMay, useSession } from '../../session/session.ts';
import { failed, useAction } from '../../widgets/actions.tsx';
import { Button, Form } from '../../widgets/controls.tsx';
import { Highlighted } from '../../widgets/highlighted.tsx';
import { type Person, usePeople, usePersonName } from '../../widgets/people.ts';
import { callTexts } from '../texts.ts';
import { mentionsIn, nameBeingTyped, peopleCalled } from './desk/mentions.ts';
import { commentsQuery, fetchComments, FOLLOW_MS } from './use-call.ts';

type Comment = Schemas['Comment'];

const MAX_CHARS = 5000;

/** The comments on a call, oldest first; null for those who do not see comments. */
export function useComments(uuid: string): readonly Comment[] | null {
  const isShown = useMay('review');
  const { data = [] } = useQuery({ ...commentsQuery(uuid), enabled: isShown, refetchInterval: FOLLOW_MS });
  return isShown ? data : null;
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
    { changes: [commentsQuery(callUuid).queryKey] },
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
  const { queryKey } = commentsQuery(callUuid);
  // The comments before this one, once it was sent.
  const before = useRef<ReadonlySet<string> | null>(null);
  /** Whether a request that was not answered has been carried out. */
  const isStored = async () => {
    if (before.current === null) return false;
    return (await fetchComments(callUuid)).some(({ uuid, by, ...comment }) => {
      const isNew = by === userUuid && !before.current!.has(uuid);
      return isNew && comment.text === text.trim() && comment.utterance === (utterance ?? null);
    });
  };
  const add = useMutation({
    ...saving,
    mutationFn: async () => {
      if (await isStored()) return;
      before.current ??= new Set(client.getQueryData(queryKey)?.map(({ uuid }) => uuid));
      const mentions = [...new Set(mentionsIn(text, people).map(({ uuid }) => uuid))];
      const body = { text: text.trim(), mentions, ...(utterance !== undefined && { utterance }) };
      await send(api.POST('/api/v1/calls/{uuid}/comments', { params: { path: { uuid: callUuid } }, body }));
    },
    onSuccess: async () => {
      // A comment answers those that mention its author.
      void client.invalidateQueries({ queryKey: ['inbox'] });
      await client.invalidateQueries({ queryKey });
      done();
    },
    // Keeps the typed text.
    onError: failed,
  });
  const submit = () => {
    if (text.trim() !== '' && !add.isPending) add.mutate();
  };
  return (
    <Form className="comment-form" onSend={submit}>
      <MentionField value={text} onChange={set} onSubmit={submit} onCancel={leave} />
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

/** People who are offered at once. */
const OFFERED = 6;

interface MentionProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
}

/** A field for a comment that offers people after an `@`. Enter takes the first of them. */
function MentionField({ value, onChange, onSubmit, onCancel }: MentionProps) {
  const t = callTexts.use();
  const people = usePeople();
  const field = useRef<HTMLTextAreaElement>(null);
  const [cursor, setCursor] = useState(value.length);
  const typed = nameBeingTyped(value, cursor);
  const offered = typed === null ? [] : peopleCalled(typed, people).slice(0, OFFERED);
  const isComplete = offered.some(({ name }) => name === typed);
  const pick = ({ name }: Person) => {
    const start = cursor - typed!.length;
    const before = `${value.slice(0, start)}${name} `;
    // The next key may come before the next frame: the text must be in the field now.
    flushSync(() => {
      onChange(before + value.slice(cursor));
      setCursor(before.length);
    });
    field.current?.focus();
    field.current?.setSelectionRange(before.length, before.length);
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit();
    else if (event.key === 'Enter' && offered.length > 0 && !isComplete) {
      event.preventDefault();
      pick(offered[0]!);
    }
    if (event.key === 'Escape') {
      // The same key press would close the question.
      event.preventDefault();
      onCancel();
    }
  };
  return (
    <>
      <textarea
        ref={field}
        className="input"
        // The user has just asked to write.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        maxLength={MAX_CHARS}
        aria-label={t('comment')}
        placeholder={t('mention.hint')}
        value={value}
        onChange={({ target }) => {
          setCursor(target.selectionStart);
          onChange(target.value);
        }}
        onSelect={({ currentTarget }) => setCursor(currentTarget.selectionStart)}
        onKeyDown={press}
      />
      <div role="status" className="visually-hidden">
        {offered.length > 0 && !isComplete ? t('mention.offered', { name: offered[0]!.name }) : ''}
      </div>
      {offered.length > 0 && !isComplete && (
        <div className="mention-people" role="group" aria-label={t('mention.people')}>
          {offered.map((person) => (
            <button key={person.uuid} type="button" className="chip foreign" onClick={() => pick(person)}>
              {person.name}
            </button>
          ))}
        </div>
      )}
    </>
  );
}
