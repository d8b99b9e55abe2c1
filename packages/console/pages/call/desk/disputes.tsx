import { api, type Schemas, send } from '../../../api/client.ts';
import { useDraft, useWriting } from '../../../drafts/drafts.ts';
import * as format from '../../../i18n/format.ts';
import { shellTexts } from '../../../i18n/texts.ts';
import { useMay } from '../../../session/session.ts';
import { useAction } from '../../../widgets/actions.tsx';
import { Button, SelectField, TextArea, Form } from '../../../widgets/controls.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { usePersonName } from '../../../widgets/people.ts';
import { callTexts } from '../../texts.ts';
import type { Question } from '../use-call.ts';
import { deskChanges, type Dispute } from './call-desk.tsx';

const MAX_CHARS = 5000;
/** What a select has for "the answer stays" and "not applicable"; labels are never empty and never begin so. */
const KEEP = '\u0000keep';
const NOT_APPLICABLE = '\u0000none';

interface Props {
  readonly callUuid: string;
  readonly question: Question;
}

/** The disputes of an answer: what was said and decided, the form to decide an open one, and the form to open one. */
export function Disputes({ callUuid, disputes, question }: Props & { disputes: readonly Dispute[] }) {
  const isOpen = disputes.some(({ status }) => status === 'open');
  return (
    <div className="disputes">
      {disputes.map((dispute) => (
        <OneDispute key={dispute.uuid} callUuid={callUuid} dispute={dispute} question={question} />
      ))}
      {!isOpen && <NewDispute callUuid={callUuid} question={question} />}
    </div>
  );
}

function OneDispute({ callUuid, dispute, question }: Props & { dispute: Dispute }) {
  const t = callTexts.use();
  const nameOf = usePersonName();
  const mayDecide = useMay('review');
  const { status, by, at, reason, comment, decided_by, decided_at } = dispute;
  return (
    <div className="dispute">
      <p>
        <Icon name="flag" size={13} />{' '}
        <span className="muted foreign">{t('dispute.by', { name: nameOf(by), at: format.shortDateTime(at) })}</span>
      </p>
      <p className="foreign">{reason}</p>
      {status !== 'open' && decided_by !== null && decided_at !== null && (
        <>
          <p className="muted foreign">
            {t(`dispute.${status}`, { name: nameOf(decided_by), at: format.shortDateTime(decided_at) })}
          </p>
          {comment !== null && <p className="foreign">{comment}</p>}
        </>
      )}
      {status === 'open' && mayDecide && <Decide {...{ callUuid, dispute, question }} />}
    </div>
  );
}

function Decide({ callUuid, dispute, question }: Props & { dispute: Dispute }) {
  const t = callTexts.use();
  const { value: decision, set, discard } = useDraft(`dispute decision ${dispute.uuid}`, { comment: '', answer: KEEP });
  const decide = useAction(
    (body: Schemas['DecideDisputeRequest']) =>
      send(api.PATCH('/api/v1/disputes/{uuid}', { params: { path: { uuid: dispute.uuid } }, body })),
    { ...deskChanges(callUuid), onDone: discard },
  );
  const { comment, answer } = decision;
  const close = (status: 'accepted' | 'rejected') => {
    const changed = answer === KEEP ? {} : { answer: answer === NOT_APPLICABLE ? null : answer };
    decide.mutate({ status, comment: comment.trim(), ...(status === 'accepted' && changed) });
  };
  const isReady = comment.trim() !== '' && !decide.isPending;
  return (
    <Form className="desk-form" onSend={() => isReady && close('accepted')}>
      <SelectField
        label={t('dispute.rightAnswer')}
        options={[
          KEEP,
          ...(question.choices ?? []).filter((label) => label !== question.answer),
          ...(question.not_applicable ? [] : [NOT_APPLICABLE]),
        ]}
        nameOf={(each) => (each === KEEP ? t('dispute.keep') : each === NOT_APPLICABLE ? t('notApplicable') : each)}
        value={answer}
        onChoose={(chosen) => set({ ...decision, answer: chosen })}
      />
      <TextArea
        label={t('dispute.decision')}
        required
        maxLength={MAX_CHARS}
        value={comment}
        onText={(text) => set({ ...decision, comment: text })}
      />
      <div className="dialog-actions">
        <Button isSmall disabled={!isReady} onClick={() => close('rejected')}>
          {t('dispute.reject')}
        </Button>
        <Button kind="primary" isSmall isSubmit disabled={!isReady}>
          {t('dispute.accept')}
        </Button>
      </div>
    </Form>
  );
}

function NewDispute({ callUuid, question }: Props) {
  const t = callTexts.use();
  const shell = shellTexts.use();
  const { isOpen, open, text, set, done, leave } = useWriting(`dispute ${callUuid} ${question.uuid}`);
  const dispute = useAction(
    (body: Schemas['DisputeAnswerRequest']) =>
      send(api.POST('/api/v1/calls/{uuid}/disputes', { params: { path: { uuid: callUuid } }, body })),
    { ...deskChanges(callUuid), onDone: done },
  );
  const reason = text.trim();
  if (!isOpen) {
    return (
      <Button icon="flag" kind="quiet" isSmall onClick={open}>
        {t('dispute.open')}
      </Button>
    );
  }
  const isReady = reason !== '' && !dispute.isPending;
  return (
    <Form className="desk-form" onSend={() => isReady && dispute.mutate({ question_uuid: question.uuid, reason })}>
      <TextArea
        label={t('dispute.reason')}
        // The user has just asked to write.
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        required
        maxLength={MAX_CHARS}
        value={text}
        onText={set}
      />
      <div className="dialog-actions">
        <Button isSmall onClick={leave}>
          {shell('cancel')}
        </Button>
        <Button kind="primary" isSmall isSubmit disabled={!isReady}>
          {t('dispute.send')}
        </Button>
      </div>
    </Form>
  );
}
