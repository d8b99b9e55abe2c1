import { useEffect } from 'react';
import { useDraft } from '../../drafts/drafts.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useMay } from '../../session/session.ts';
import { Button, Chip, Form } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { callTexts } from '../texts.ts';
import type { Dispute } from './desk/call-desk.tsx';
import { Disputes } from './desk/disputes.tsx';
import type { Question } from './use-call.ts';
import { isOpen, machineAnswer, type Review } from './use-review.tsx';

interface Props {
  readonly callUuid: string;
  readonly disputes: readonly Dispute[];
  readonly number: number;
  readonly question: Question;
  readonly review: Review;
  readonly isActive: boolean;
  readonly onToggle: () => void;
  readonly onQuote: (index: number) => void;
}

/** A question with its answer; open, with what the answer rests on and a way to correct it. */
export function QuestionCard(props: Props) {
  const { disputes, number, question, review, isActive, onToggle } = props;
  const t = callTexts.use();
  const { answer, not_applicable, points, max_points, needs_review } = question;
  // A person's answer is not saved yet, because the service does not respond.
  const isWaiting = review.waiting.has(question.uuid);
  return (
    <li className="question" data-active={isActive}>
      <button type="button" className="question-head" aria-expanded={isActive} onClick={onToggle}>
        <span className="question-number number">{number}</span>
        <span className="question-text foreign">{question.text}</span>
        <span className="question-answer">
          <span className={answer === null ? 'muted' : 'foreign'}>
            {not_applicable ? t('notApplicable') : (answer ?? t('open'))}
          </span>
          <span className={points !== null && points < max_points ? 'score-bad number' : 'muted number'}>
            {points === null ? '' : `${format.number(points, 2)} / ${format.number(max_points, 2)}`}
          </span>
        </span>
        {disputes.some(({ status }) => status === 'open') && (
          <span className="badge badge-warn">{t('dispute.badge')}</span>
        )}
        {needs_review && <span className="badge badge-warn">{t('review')}</span>}
        {question.decided_by === 'person' && !isWaiting && <span className="badge badge-accent">{t('person')}</span>}
        {isWaiting && (
          <span className="badge badge-warn" role="status">
            {t('notSaved')}
          </span>
        )}
      </button>
      {isActive ? <Details {...props} /> : <Printed question={question} />}
    </li>
  );
}

/** What an answer rests on, on paper: nobody can open it there. */
function Printed({ question: { explanation, evidence, comment } }: Pick<Props, 'question'>) {
  if (explanation === '' && evidence.length === 0 && comment === null) return null;
  return (
    <div className="print-only question-printed foreign">
      {explanation !== '' && <p>{explanation}</p>}
      {evidence.map(({ utterance, start_char, quote }) => (
        <q key={`${utterance} ${start_char}`}>{quote}</q>
      ))}
      {comment !== null && <p>{comment}</p>}
    </div>
  );
}

function Details({ callUuid, disputes, question, review, onQuote }: Props) {
  const t = callTexts.use();
  const mayReview = useMay('review');
  const machine = machineAnswer(question);
  const isPersons = question.decided_by === 'person';
  return (
    <div className="question-details">
      <Evidence question={question} onQuote={onQuote} />
      <p className="muted">
        {t('decidedBy', { by: t(`decided.${machine.decided_by}`) })}
        {machine.confidence !== null && ` · ${t('confidence', { share: format.percent(machine.confidence) })}`}
        {isPersons && machine.answer !== question.answer && (
          <span className="foreign"> · {t('machineSaid', { answer: machine.answer ?? t('notApplicable') })}</span>
        )}
      </p>
      {!mayReview && question.comment !== null && <p className="foreign">{question.comment}</p>}
      {mayReview && question.choices !== null && (
        <>
          <Choices
            choices={question.choices}
            isOn={(label) => (label === null ? question.not_applicable : question.answer === label)}
            onChoose={(label) => review.answer(question, label)}
          />
          {/* Without an answer there is nothing to save it with. */}
          {!isOpen(question) && <AnswerComment {...{ question, review }} />}
        </>
      )}
      <Disputes {...{ callUuid, disputes, question }} />
    </div>
  );
}

interface ChoicesProps {
  readonly choices: readonly string[];
  /** Absent: none is chosen yet. */
  readonly isOn?: (label: string | null) => boolean;
  readonly isDisabled?: boolean;
  /** Null: not applicable. */
  readonly onChoose: (label: string | null) => void;
}

/** The answers to a question, each with the key that chooses it. */
export function Choices({ choices, isOn, isDisabled, onChoose }: ChoicesProps) {
  const t = callTexts.use();
  return (
    <div className="choices" role="group" aria-label={t('correct')}>
      {[...choices, null].map((label, index) => (
        <Chip key={label ?? ''} isOn={isOn?.(label)} disabled={isDisabled} onClick={() => onChoose(label)}>
          <kbd aria-hidden="true">{label === null ? 0 : index + 1}</kbd>
          <span className="foreign">{label ?? t('notApplicable')}</span>
        </Chip>
      ))}
    </div>
  );
}

/** The keys that choose an answer. */
export function keysOf(choices: readonly string[], choose: (label: string | null) => void) {
  const labels = choices.length === 0 ? [] : [null, ...choices.slice(0, 9)];
  return Object.fromEntries(labels.map((label, index) => [String(index), () => choose(label)]));
}

/** A person's reason for an answer. The typed text is kept until it is saved. */
function AnswerComment({ question, review }: Pick<Props, 'question' | 'review'>) {
  const t = callTexts.use();
  const saved = question.comment ?? '';
  const { value: typed, isChanged, set, discard } = useDraft(`answer ${review.shown.uuid} ${question.uuid}`, saved);
  const isSaved = !review.pending.has(question.uuid) && typed.trim() === saved;
  useEffect(() => {
    if (isChanged && isSaved) discard();
  }, [isChanged, isSaved, discard]);
  return (
    <Form className="answer-comment" onSend={() => review.answer(question, question.answer, typed.trim())}>
      <input
        className="input"
        maxLength={5000}
        placeholder={t('comment')}
        aria-label={t('comment')}
        value={typed}
        onChange={({ target }) => set(target.value)}
      />
      {typed.trim() !== saved && <Button isSubmit>{shellTexts.translate('save')}</Button>}
    </Form>
  );
}

/** Why a question has its answer, with quotes that play. */
export function Evidence({ question, onQuote }: Pick<Props, 'question' | 'onQuote'>) {
  return (
    <>
      {question.explanation !== '' && <p className="foreign">{question.explanation}</p>}
      {question.evidence.map(({ utterance, start_char, quote }, index) => (
        <button
          key={`${utterance} ${start_char}`}
          type="button"
          className="quote foreign"
          onClick={() => onQuote(index)}
        >
          <Icon name="play" size={13} />
          <q>{quote}</q>
        </button>
      ))}
    </>
  );
}
